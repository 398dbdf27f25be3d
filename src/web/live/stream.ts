// One stream of /events, held open: begun anew after an end, a silence, or a sleep, with growing pauses.
import { Query } from '../base/query'
import { send } from '../api/client'
import { Problem } from '../api/problem'
import { SseReader } from './sse'

export interface StreamEvent { event: string, data: unknown }

export interface StreamEars {
    onEvent: (event: StreamEvent) => void
    /** It was begun (again): whatever is shown may be old. */
    onOpen: () => void
    onAway: (why: string) => void
}

const PAUSE_MS = { first: 500, most: 15_000 }
/** Ticks come each second; a server takes none while it starts. */
const SILENCE_MS = 20_000
const LOOK_MS = 2000

export class Stream {
    private abort: AbortController | null = null
    private timer: ReturnType<typeof setTimeout> | undefined
    private readonly watcher: ReturnType<typeof setInterval>
    private pauseMs = PAUSE_MS.first
    private heardAt = Date.now()
    private lookedAt = Date.now()
    private closed = false

    constructor(private query: Query, private readonly ears: StreamEars) {
        this.watcher = setInterval(() => this.look(), LOOK_MS)
        addEventListener('online', this.restart)
        void this.run()
    }

    /** Other events are wanted from now on. */
    change(query: Query): void {
        this.query = query
        this.restart()
    }

    close(): void {
        this.closed = true
        clearInterval(this.watcher)
        clearTimeout(this.timer)
        removeEventListener('online', this.restart)
        this.abort?.abort()
    }

    readonly restart = (): void => {
        if (this.closed)
            return
        this.pauseMs = PAUSE_MS.first
        clearTimeout(this.timer)
        this.abort?.abort()
        void this.run()
    }

    /** A timer that was held up for long means that the machine slept: the connection is a corpse. */
    private look(): void {
        const now = Date.now()
        const slept = now - this.lookedAt > 5 * LOOK_MS
        this.lookedAt = now
        if (slept || (this.abort !== null && now - this.heardAt > SILENCE_MS))
            this.restart()
    }

    private async run(): Promise<void> {
        const abort = new AbortController()
        this.abort = abort
        this.heardAt = Date.now()
        let why = 'the stream of changes ended'
        try {
            await this.read(abort)
        } catch (problem) {
            if (problem instanceof Problem)
                why = problem.detail
            if (problem instanceof Problem && problem.status === 401)
                this.pauseMs = PAUSE_MS.most // whoever signs in begins it anew
        }
        if (this.closed || this.abort !== abort)
            return
        this.abort = null
        this.ears.onAway(why)
        this.timer = setTimeout(() => void this.run(), this.pauseMs * (0.75 + Math.random() / 2))
        this.pauseMs = Math.min(this.pauseMs * 2, PAUSE_MS.most)
    }

    private async read(abort: AbortController): Promise<void> {
        const answer = await send('GET', '/events', undefined, {
            query: this.query, signal: abort.signal, headers: { Accept: 'text/event-stream' },
        })
        const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
        const events = new SseReader()
        if (this.abort !== abort)
            return
        this.ears.onOpen()
        for (;;) {
            const { value, done } = await reader.read()
            if (done || this.abort !== abort)
                return
            this.heardAt = Date.now()
            this.pauseMs = PAUSE_MS.first
            for (const event of events.feed(value))
                this.ears.onEvent({ event: event.event, data: JSON.parse(event.data) })
        }
    }
}
