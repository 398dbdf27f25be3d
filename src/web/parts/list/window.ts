// Which rows of a long list are on the screen: only these are drawn. The list scrolls with the page (#main).
import { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

export const MARGIN_ROWS = 12 // drawn beyond each edge, so that scrolling shows no gaps

export interface Window { from: number, to: number }

/** `box` is the element that holds all rows, each so many pixels high. */
export function useWindow(box: RefObject<HTMLElement>, count: number, rowHeight: number): Window {
    const [shown, show] = useState<Window>({ from: 0, to: Math.min(count, 60) })

    useLayoutEffect(() => {
        const main = document.getElementById('main')
        if (!main)
            return undefined
        const look = () => {
            if (!box.current)
                return
            const above = main.getBoundingClientRect().top - box.current.getBoundingClientRect().top
            const from = Math.max(0, Math.floor(above / rowHeight) - MARGIN_ROWS)
            const to = Math.min(count, Math.ceil((above + main.clientHeight) / rowHeight) + MARGIN_ROWS)
            show(before => before.from === from && before.to === to ? before : { from: Math.min(from, to), to })
        }
        look()
        main.addEventListener('scroll', look, { passive: true })
        addEventListener('resize', look)
        return () => {
            main.removeEventListener('scroll', look)
            removeEventListener('resize', look)
        }
    }, [count, rowHeight])
    return { from: Math.min(shown.from, count), to: Math.min(shown.to, count) }
}
