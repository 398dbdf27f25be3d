// Which row of a long list Tab comes to: the one that had the focus last, or the first that is seen. A row with the
// focus that is scrolled away, and so is not drawn any more, hands it to that one.
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { MARGIN_ROWS } from './window'

export function useEntry(body: RefObject<HTMLElement>, from: number, to: number) {
    const [last, setLast] = useState(0)
    const entry = last >= from && last < to ? last : from === 0 ? 0 : Math.min(from + MARGIN_ROWS, to - 1)
    const has = useRef(false)
    useLayoutEffect(() => {
        if (has.current && document.activeElement === document.body)
            body.current?.querySelector<HTMLElement>(`tr[data-at="${entry}"]`)?.focus({ preventScroll: true })
    }, [entry])
    const onFocusIn = ({ target }: Event) => {
        const row = (target as Element).closest<HTMLElement>('tr[data-at]')
        has.current = row !== null
        if (row)
            setLast(Number(row.dataset.at))
    }
    const onFocusOut = ({ target }: Event) => setTimeout(() => {
        if ((target as Element).isConnected && !body.current?.contains(document.activeElement))
            has.current = false
    })
    return { entry, onFocusIn, onFocusOut }
}
