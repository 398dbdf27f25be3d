// Which rows of a log are on the screen, and getting to others. The box scrolls by itself. Above MAX_PX, which is
// as much as browsers take, a pixel of the scroll bar stands for several.
import { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Heights } from './heights'

export const ROW_PX = 20
const MAX_PX = 15_000_000
const MARGIN_PX = 200

interface View { from: number, to: number, y: number }

export interface Scroller {
    view: View
    /** Of the rows' box, and where the first of them is in it. */
    height: number
    top: number
    show: (row: number) => void
    toEnd: () => void
    /** To be called with the rows that are drawn where rows differ in height. */
    measure: (drawn: ReadonlyMap<number, Element>) => void
    clear: () => void
}

/** `onMove` hears whether the end is seen, and whether one went up. */
export function useScroller(box: RefObject<HTMLElement>, count: number,
    onMove: (atEnd: boolean, up: boolean) => void): Scroller {
    const heights = useMemo(() => new Heights(ROW_PX), [])
    const [view, setView] = useState<View>({ from: 0, to: 0, y: 0 })
    const last = useRef(0)
    const moved = useRef(onMove)
    moved.current = onMove
    heights.count = count
    const shown = () => box.current?.clientHeight ?? 0
    const height = Math.min(heights.total, MAX_PX)
    const scale = () => heights.total > MAX_PX ? (heights.total - shown()) / (MAX_PX - shown()) : 1

    const look = () => {
        const y = (box.current?.scrollTop ?? 0) * scale()
        const from = heights.at(y - MARGIN_PX)
        const to = Math.min(heights.count, heights.at(y + shown() + MARGIN_PX) + 1)
        setView(before => before.from === from && before.to === to && before.y === y ? before : { from, to, y })
    }
    const go = (y: number) => {
        if (box.current) {
            box.current.scrollTop = y / scale()
            last.current = box.current.scrollTop
        }
        look()
    }
    useLayoutEffect(() => {
        const element = box.current!
        const scrolled = () => {
            const { scrollTop, clientHeight, scrollHeight } = element
            const up = scrollTop < last.current - 2
            last.current = scrollTop
            look()
            moved.current(scrollTop + clientHeight >= scrollHeight - 8, up)
        }
        const resized = new ResizeObserver(look)
        resized.observe(element)
        element.addEventListener('scroll', scrolled, { passive: true })
        return () => {
            resized.disconnect()
            element.removeEventListener('scroll', scrolled)
        }
    }, [])
    useLayoutEffect(look, [count])

    return {
        view, height,
        top: (box.current?.scrollTop ?? 0) + heights.top(view.from) - view.y,
        show: row => {
            const top = heights.top(row)
            const y = (box.current?.scrollTop ?? 0) * scale()
            if (top < y + ROW_PX || top > y + shown() - 2 * ROW_PX)
                go(top - shown() / 3)
        },
        toEnd: () => go(heights.total),
        measure: drawn => {
            // All are asked before anything is moved: each question behind a move is a layout of the page.
            const found = [...drawn].map(([row, element]) => [row, element.getBoundingClientRect().height])
            const y = (box.current?.scrollTop ?? 0) * scale()
            const anchor = heights.at(y)
            const within = y - heights.top(anchor)
            const news = found.filter(([row, height]) => heights.set(row, height))
            if (news.length > 0)
                go(heights.top(anchor) + within)
        },
        clear: () => {
            const anchor = heights.at((box.current?.scrollTop ?? 0) * scale())
            heights.clear()
            go(heights.top(anchor))
        },
    }
}
