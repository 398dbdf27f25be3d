// A list of things: rows drawn as far as they are seen, pages fetched as one comes near their end, rows picked
// by hand. On a phone each row is a card of two lines. Arrows move between rows, Enter opens, space picks; Tab comes
// to the row that had the focus last, or to the first that is seen.
import './table.css'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isPhone } from '../../base/choices'
import { count as counted } from '../../base/format'
import { useEntry } from './entry'
import { useWindow } from './window'

export interface Column<T> {
    key: string
    name: string
    cell: (row: T) => ComponentChildren
    /** Of CSS; columns without one share what is left. */
    width?: string
    align?: 'end'
    /** Where it stands on a card: left or right, upper or lower line; absent: not there. */
    card?: 'title' | 'state' | 'note' | 'time'
}

export interface Picks { ids: ReadonlySet<string>, toggle: (ids: string[], on: boolean) => void }

export interface TableProps<T> {
    label: string
    columns: readonly Column<T>[]
    rows: readonly T[]
    id: (row: T) => string
    /** What a row opens. */
    open?: (row: T) => void
    picks?: Picks
    hasMore?: boolean
    loading?: boolean
    more?: () => void
    /** Greyed, since it is old or of another address. */
    isOld?: boolean
}

const ROW = 32
const CARD = 58
const AHEAD_ROWS = 20 // so near the end the next page is fetched

function Row<T>({ row, at, props, card, isEntry }: {
    row: T, at: number, props: TableProps<T>, card: boolean, isEntry: boolean,
}) {
    const { columns, picks, open } = props
    const id = props.id(row)
    const picked = picks?.ids.has(id) ?? false
    return (
        <tr class={picked ? 'is-picked' : ''} tabIndex={isEntry ? 0 : -1} data-at={at} aria-rowindex={at + 2}
            aria-selected={picks ? picked : undefined}
            onClick={event => {
                if (open && !(event.target as Element).closest('a, button, input, label'))
                    open(row)
            }}>
            {picks && <td class="table-pick">
                <input type="checkbox" checked={picked} aria-label={`Pick ${id}`} tabIndex={-1}
                    onChange={event => picks.toggle([id], event.currentTarget.checked)} />
            </td>}
            {columns.filter(column => !card || column.card).map(column =>
                <td key={column.key} class={card ? `card-${column.card}` : column.align ? 'align-end' : undefined}>
                    {column.cell(row)}
                </td>)}
        </tr>
    )
}

interface Drawn<T> { props: TableProps<T>, card: boolean, rows: Map<number, { isEntry: boolean, node: VNode }> }

export function Table<T>(props: TableProps<T>) {
    const { label, columns, rows, picks, hasMore, loading, more, open } = props
    const card = isPhone.value
    const height = card ? CARD : ROW
    const body = useRef<HTMLTableSectionElement>(null)
    const { from, to } = useWindow(body, rows.length, height)
    const { entry, ...focus } = useEntry(body, from, to)
    const drawn = useRef<Drawn<T> | null>(null)
    const before = drawn.current?.props === props && drawn.current.card === card ? drawn.current.rows : null
    drawn.current = { props, card, rows: new Map() }
    /** What only scrolling has drawn anew is as it was. */
    const rowAt = (row: T, at: number) => {
        const isEntry = at === entry
        const known = before?.get(at)
        const one = known?.isEntry === isEntry ? known : {
            isEntry, node: <Row key={props.id(row)} row={row} at={at} props={props} card={card} isEntry={isEntry} />,
        }
        drawn.current!.rows.set(at, one)
        return one.node
    }
    const spans = columns.length + (picks ? 1 : 0)

    useEffect(() => {
        if (hasMore && !loading && to >= rows.length - AHEAD_ROWS)
            more?.()
    }, [to, rows.length, hasMore, loading])

    const onKeyDown = (event: KeyboardEvent) => {
        const row = (event.target as Element).closest<HTMLElement>('tr[data-at]')
        if (!row || event.target !== row)
            return
        const at = Number(row.dataset.at)
        const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
        if (step) {
            event.preventDefault()
            body.current!.querySelector<HTMLElement>(`tr[data-at="${at + step}"]`)?.focus()
        } else if (event.key === 'Enter')
            open?.(rows[at])
        else if (event.key === ' ' && picks) {
            event.preventDefault()
            const id = props.id(rows[at])
            picks.toggle([id], !picks.ids.has(id))
        }
    }
    const all = rows.length > 0 && rows.every(row => picks?.ids.has(props.id(row)))
    return (
        <div class={`table-box${props.isOld ? ' is-old' : ''}`}>
            <table class={card ? 'table cards' : 'table'} aria-label={label} onKeyDown={onKeyDown} {...focus}
                aria-rowcount={hasMore ? -1 : rows.length + 1} aria-busy={loading}>
                <thead class={card && !picks ? 'hidden-text' : ''}>
                    <tr>
                        {picks && <th class="table-pick" scope="col"><label>
                            <input type="checkbox" checked={all} aria-label="Pick all that are shown"
                                onChange={event => picks.toggle(rows.map(props.id), event.currentTarget.checked)} />
                            {card && 'All that are shown'}</label></th>}
                        {columns.map(column => <th key={column.key} scope="col" style={{ width: column.width }}
                            class={card ? 'hidden-text' : column.align && 'align-end'}>{column.name}</th>)}
                    </tr>
                </thead>
                <tbody ref={body}>
                    {from > 0 && <tr aria-hidden="true" style={{ height: from * height }}><td colSpan={spans} /></tr>}
                    {rows.slice(from, to).map((row, i) => rowAt(row, from + i))}
                    {to < rows.length &&
                        <tr aria-hidden="true" style={{ height: (rows.length - to) * height }}>
                            <td colSpan={spans} />
                        </tr>}
                </tbody>
            </table>
            <p class="table-end soft small" role="status">
                {loading && hasMore ? 'Reading more …' : hasMore ? `${counted(rows.length, 'row')} read so far` : ''}
            </p>
        </div>
    )
}
