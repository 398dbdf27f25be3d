// One line: its number, which is a link, its time, and its text in its colours, with what was searched for marked.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { bytes, number } from '../../base/format'
import { exact, parse as parseTime } from '../../base/when'
import { parse, Span } from './ansi'
import type { Row as LogRow } from './kept'
import { classOf } from './style'

/** Of a longer line so much is drawn, until one asks for the rest. */
const SHOWN_CHARS = 2000
const MARKS_MAX = 100

/** Where the text begins that is looked for. */
function marksOf(text: string, find: string): number[] {
    const hay = find === find.toLowerCase() ? text.toLowerCase() : text
    const marks: number[] = []
    for (let at = hay.indexOf(find); at >= 0 && marks.length < MARKS_MAX; at = hay.indexOf(find, at + find.length))
        marks.push(at)
    return marks
}

/** Pieces cut where a mark begins or ends. */
function Marked({ spans, find }: { spans: Span[], find: string }) {
    const text = spans.map(span => span.text).join('')
    const marks = find === '' ? [] : marksOf(text, find)
    const out: ComponentChildren[] = []
    let at = 0
    for (const [i, span] of spans.entries()) {
        const end = at + span.text.length
        const pieces: ComponentChildren[] = []
        let done = at
        for (const mark of marks) {
            const from = Math.max(mark, at)
            const to = Math.min(mark + find.length, end)
            if (from >= to)
                continue
            pieces.push(text.slice(done, from), <mark key={from}>{text.slice(from, to)}</mark>)
            done = to
        }
        pieces.push(text.slice(done, end))
        const name = classOf(span.style)
        out.push(name ? <span key={i} class={name}>{pieces}</span> : pieces)
        at = end
    }
    return <>{out}</>
}

function cut(spans: Span[], most: number): Span[] {
    const out: Span[] = []
    for (const span of spans) {
        if (most <= 0)
            break
        out.push(span.text.length > most ? { ...span, text: span.text.slice(0, most) } : span)
        most -= span.text.length
    }
    return out
}

function Text({ row, find }: { row: LogRow, find: string }) {
    const [whole, setWhole] = useState(false)
    const { line } = row
    const spans = row.spans ??= parse(line.text, row.style).spans
    const long = line.text.length > SHOWN_CHARS && !whole
    return (
        <>
            <Marked spans={long ? cut(spans, SHOWN_CHARS) : spans} find={find} />
            {long && <button type="button" class="log-more" tabIndex={-1} onClick={() => setWhole(true)}>
                … {number(line.text.length - SHOWN_CHARS)} characters more</button>}
            {line.more && <span class="log-goes-on" title="The line goes on in the next one">⤶</span>}
        </>
    )
}

export interface RowLook {
    find: string
    /** Of the zone that times are shown in; null: without times. */
    times: string | null
    current: boolean
    chosen: boolean
}

export function Row({ at, number: n, row, look, href, onChoose, seen }: {
    at: number, number: number | null, row: LogRow | undefined, look: RowLook, href: string,
    onChoose: (event: MouseEvent) => void, seen?: (element: Element | null) => void,
}) {
    const line = row?.line
    const kind = line?.missing_pieces ? 'note' : line?.stream ?? 'none'
    const ms = parseTime(line?.at)
    return (
        <div ref={seen} data-row={at}
            class={`log-row is-${kind}${look.current ? ' is-current' : ''}${look.chosen ? ' is-chosen' : ''}`}>
            <a class="log-number" href={href} tabIndex={-1} onClick={onChoose}
                title={kind === 'stderr' ? 'stderr' : undefined}>{n ?? ''}</a>
            {look.times && <span class="log-time">{ms === null ? '' :
                `${exact(ms, look.times, { day: false, label: false })}.${String(ms % 1000).padStart(3, '0')}`}</span>}
            <span class="log-text">
                {line?.missing_pieces
                    ? `${number(line.missing_pieces)} pieces of the output are not there: they were deleted, or did ` +
                        'not reach the store.'
                    : line?.dropped_bytes ? `${bytes(line.dropped_bytes)} are not kept here: it printed too much.`
                        : row && <Text row={row} find={look.find} />}
            </span>
        </div>
    )
}
