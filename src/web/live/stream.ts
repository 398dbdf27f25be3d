// One stream of /events, held open: begun anew after an end, a silence, or a sleep, with growing pauses. When other
// events are wanted, the next stream is there before the one before it ends, so that nothing is missed between.
import { Query } from '../base/query'
import { send } from '../api/client'
import { Problem } from '../api/problem'
import { SseReader } from './sse'

export interface StreamEvent { event: string, data: unknown }

export interface StreamEars {
    onEvent: (event: StreamEvent) => void
    /** The server has taken this query. `goesOn`: nothing was missed, since the stream before was still there; else
     *  whatever is shown may be old. */
    onOpen: (query: Query, goesOn: boolean) => void
    /** `status` is that of the refusal, if there was one. */
    onAway: (why: string, status?: number) => void
}

const PAUSE_MS = { first: 500, most: 15_000 }
/** Ticks come each second; a server takes none while it starts. */
const SILENCE_MS = 20_000
const LOOK_MS = 2000
/** The machine may have slept when the timer comes so late and nothing was heard for so long. Timers of tabs that
 *  nobody sees are late, too, but their streams go on. */
const SLEEP_MS = { late: 5 * LOOK_MS, silent: 5000 }

interface Reader { abort: AbortController, query: Query, begunAt: number, isOpen: boolean }

export class Stream {
    private reader: Reader | null = null
    /** Goes on until the server has taken what is wanted now. */
    private former: Reader | null = null
    private timer: ReturnType<typeof setTimeout> | undefined
    private readonly watcher: ReturnType<typeof setInterval>
    private pauseMs = PAUSE_MS.first
    private heardAt = Date.now()
    private lookedAt = Date.now()
    private closed = false

    constructor(private query: Query, private readonly ears: StreamEars) {
        this.watcher = setInterval(() => this.look(), LOOK_MS)
        addEventListener('online', this.restart)
        this.begin()
    }

    /** Other events are wanted from now on. */
    change(query: Query): void {
        this.query = query
        if (this.reader?.isOpen)
            this.former = this.reader
        else
            this.reader?.abort.abort()
        this.begin()
    }

    close(): void {
        this.closed = true
        clearInterval(this.watcher)
        clearTimeout(this.timer)
        removeEventListener('online', this.restart)
        this.reader?.abort.abort()
        this.dropFormer()
    }

    readonly restart = (): void => {
        this.pauseMs = PAUSE_MS.first
        this.reader?.abort.abort()
        this.dropFormer()
        this.begin()
    }

    private dropFormer(): void {
        this.former?.abort.abort()
        this.former = null
    }

    private begin(): void {
        if (this.closed)
            return
        clearTimeout(this.timer)
        this.reader = { abort: new AbortController(), query: this.query, begunAt: Date.now(), isOpen: false }
        void this.run(this.reader)
    }

    private look(): void {
        const now = Date.now()
        const late = now - this.lookedAt
        const silent = now - (this.reader?.isOpen ? this.heardAt : this.reader?.begunAt ?? 0)
        this.lookedAt = now
        if ((late > SLEEP_MS.late && silent > SLEEP_MS.silent) || (this.reader !== null && silent > SILENCE_MS))
            this.restart()
    }

    private async run(reader: Reader): Promise<void> {
        let why = 'the stream of changes ended'
        let status: number | undefined
        try {
            await this.read(reader)
        } catch (problem) {
            if (problem instanceof Problem) {
                why = problem.detail
                status = problem.status
            }
        }
        if (this.former === reader)
            this.former = null
        if (this.closed || this.reader !== reader)
            return
        if (status === 401 || status === 403)
            this.pauseMs = PAUSE_MS.most // whoever signs in begins it anew
        this.reader = null
        this.dropFormer()
        this.timer = setTimeout(() => this.begin(), this.pauseMs * (0.75 + Math.random() / 2))
        this.pauseMs = Math.min(this.pauseMs * 2, PAUSE_MS.most)
        this.ears.onAway(why, status)
    }

    private async read(reader: Reader): Promise<void> {
        const { signal } = reader.abort
        const answer = await send('GET', '/events', undefined, {
            query: reader.query, signal, headers: { Accept: 'text/event-stream' },
        })
        const pieces = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
        const events = new SseReader()
        if (signal.aborted)
            return
        reader.isOpen = true
        this.heardAt = Date.now()
        const goesOn = this.former !== null
        this.dropFormer()
        this.ears.onOpen(reader.query, goesOn)
        for (;;) {
            const { value, done } = await pieces.read()
            if (done || signal.aborted)
                return
            this.heardAt = Date.now()
            this.pauseMs = PAUSE_MS.first
            for (const event of events.feed(value))
                this.ears.onEvent({ event: event.event, data: JSON.parse(event.data) })
        }
    }
}
