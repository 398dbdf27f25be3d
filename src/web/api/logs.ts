// Output of executions: windows of numbered lines, and what is printed from now on.
import type { LogLine, LogLinesEnd } from 'openapi'
import { part, printQuery, Query } from '../base/query'
import { inPieces } from '../base/pieces'
import { SseReader } from '../live/sse'
import { send } from './client'

export type { LogLine, LogLinesEnd }

export interface LogWindow { lines: LogLine[], end: LogLinesEnd }

/** Where a viewer (parts/log) has its lines from: one attempt, of one stream or of all. */
export interface LogSource {
    /** Another name is another log. */
    readonly key: string
    readonly attempt: number
    /** Of all streams: a line's number is then its place. */
    readonly isWhole: boolean
    /** Lines from this number on, or the last ones. */
    read: (ask: { from: number } | { tail: number }, limit: number, signal: AbortSignal) => Promise<LogWindow>
    /** Hands over what comes from this line on, some at a time; resolves when the stream of them has ended. */
    follow: (from: number, hear: (lines: LogLine[]) => void, signal: AbortSignal) => Promise<void>
    /** An address with all of it, as it was printed. */
    readonly download: string
    readonly fileName: string
}

const pathOf = (executionId: string) => `/executions/${part(executionId)}/logs`

/** A window, parsed in pieces: 4 MiB at once would be felt. */
export async function readLines(path: string, query: Query, signal?: AbortSignal): Promise<LogWindow> {
    const answer = await send('GET', path, undefined, {
        query: { ...query, format: 'ndjson' }, signal, headers: { Accept: 'application/x-ndjson' },
    })
    const lines: LogLine[] = []
    let end: LogLinesEnd | null = null
    await inPieces((await answer.text()).split('\n'), text => {
        if (text === '')
            return
        const one = JSON.parse(text) as LogLine | LogLinesEnd
        if ('end' in one)
            end = one
        else
            lines.push(one)
    })
    if (end === null)
        throw new Error('the answer broke off before its end')
    return { lines, end }
}

/** The attempts that have printed something, and those of which that was deleted. */
export async function readLogAttempts(executionId: string): Promise<LogLinesEnd> {
    return (await readLines(pathOf(executionId), { tail: '0' })).end
}

async function follow(path: string, query: Query, hear: (lines: LogLine[]) => void, signal: AbortSignal) {
    const answer = await send('GET', path, undefined, {
        query: { ...query, format: 'ndjson', follow: true }, signal, headers: { Accept: 'text/event-stream' },
    })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    const events = new SseReader()
    for (;;) {
        const { value, done } = await reader.read()
        if (done)
            return
        const lines: LogLine[] = []
        let ended = false
        await inPieces(events.feed(value), event => {
            if (event.event === 'line')
                lines.push(JSON.parse(event.data) as LogLine)
            else if (event.event === 'end')
                ended = true
        })
        if (lines.length > 0)
            hear(lines)
        if (ended)
            return void reader.cancel()
    }
}

/** One attempt, with all it printed or one stream of it. */
export function logSource(executionId: string, attempt: number, stream?: string | null): LogSource {
    const path = pathOf(executionId)
    const query = { attempt, stream }
    return {
        key: path + printQuery(query),
        attempt,
        isWhole: !stream,
        read: (ask, limit, signal) => readLines(path, 'from' in ask
            ? { ...query, from: `${attempt}.${ask.from}`, limit } : { ...query, tail: ask.tail }, signal),
        follow: (from, hear, signal) => follow(path, { ...query, from: `${attempt}.${from}` }, hear, signal),
        download: `/api/v1${path}${printQuery(query)}`,
        fileName: `${executionId}-${attempt}${stream ? `-${stream}` : ''}.log`,
    }
}
