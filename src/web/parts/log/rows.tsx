// The rows of a log that are on the screen.
import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Row as LogRow } from './kept'
import { Row } from './row'
import { ROW_PX, Scroller } from './scroller'
import type { LogStore } from './store'

export interface RowsLook {
    find: string
    times: string | null
    wrap: boolean
    /** The row that was searched for last. */
    current: number | null
    /** Numbers of the lines that the address names. */
    chosen: [number, number] | null
}

interface RowsProps {
    box: RefObject<HTMLDivElement>
    store: LogStore
    version: number
    scroller: Scroller
    look: RowsLook
    hrefOf: (number: number) => string
    choose: (number: number, further: boolean) => void
}

export function Rows({ box, store, version, scroller, look, hrefOf, choose }: RowsProps) {
    const { from, to } = scroller.view
    const chosen = useRef(choose)
    chosen.current = choose
    const drawn = useRef(new Map<number, Element>())
    useEffect(() => store.need(from, to), [store, from, to, version])
    useEffect(() => scroller.clear(), [look.wrap, look.times !== null])
    useLayoutEffect(() => {
        if (look.wrap)
            scroller.measure(drawn.current)
    })
    const keep = useCallback((at: number) => (element: Element | null) => {
        if (element)
            drawn.current.set(at, element)
        else
            drawn.current.delete(at)
    }, [])
    const known = useRef(new Map<number, { key: string, row: LogRow | undefined, node: VNode }>())
    const before = known.current
    known.current = new Map()
    const digits = String(Math.max(store.total, 100)).length
    const rows = []
    for (let at = from; at < Math.min(to, store.total); at++) {
        const row = store.row(at)
        const n = row?.line.n ?? (store.source.isWhole ? at + 1 : null)
        const own = {
            find: look.find, times: look.times, current: at === look.current,
            chosen: n !== null && !!look.chosen && n >= look.chosen[0] && n <= look.chosen[1],
        }
        const href = n === null ? '#' : hrefOf(n)
        // A row that is drawn already as it should be is not looked at again.
        const key = `${href} ${look.wrap} ${JSON.stringify(own)}`
        const drawnAs = before.get(at)
        const node = drawnAs?.key === key && drawnAs.row === row ? drawnAs.node
            : <Row key={at} at={at} number={n} row={row} look={own} href={href}
                seen={look.wrap ? keep(at) : undefined}
                onChoose={event => {
                    event.preventDefault()
                    if (n !== null)
                        chosen.current(n, event.shiftKey)
                }} />
        known.current.set(at, { key, row, node })
        rows.push(node)
    }
    return (
        <div class={`log-rows mono${look.wrap ? ' is-wrapped' : ''}`} ref={box} tabIndex={0} role="region"
            aria-label="Output" style={{ '--log-digits': `${digits}ch`, '--log-row': `${ROW_PX}px` }}>
            <div class="log-all" style={{ height: scroller.height }}>
                <div class="log-shown" style={{ transform: `translateY(${scroller.top}px)` }}>{rows}</div>
            </div>
        </div>
    )
}
