// One stream for all tabs of a browser: one of them (lead.ts) reads it and tells the others.
import { Query } from '../base/query'
import { CHANNEL, lead } from './lead'
import { Stream, StreamEvent } from './stream'

/** What a tab wants to hear of besides the ticks: names of a parameter, each with its values. */
export type Filters = { job?: string[], execution?: string[], queue?: string[] }

export interface Ears {
    onEvent: (event: StreamEvent) => void
    /** The stream tells of these from now on; `goesOn`: and nothing was missed before. */
    onOpen: (filters: Filters, goesOn: boolean) => void
    onAway: (why: string) => void
}

type Message =
    | { kind: 'wants', tab: string, filters: Filters }
    | { kind: 'bye', tab: string }
    | { kind: 'who' } // a new reader asks what the others want
    | { kind: 'restart' }
    | { kind: 'event', event: StreamEvent }
    | { kind: 'open', filters: Filters, goesOn: boolean }
    | { kind: 'away', why: string }
    | { kind: 'alive' }

const REPEAT_MS = 20_000 // each tab says again what it wants, …
const FORGET_MS = 180_000 // … and one that has said nothing for so long is gone; hidden ones are slow
const ALIVE_MS = 5000
const DEAD_MS = 20_000 // a reader that says nothing for so long is replaced by a tab that somebody looks at
const CROWDED_MS = 5000 // so often everything is read again while there are more filters than the server takes
const SETTLE_MS = 150 // several parts of a page want something at once
const FILTERS_MAX = 100 // of the server
const BARE: Query = { view: 'summary', job: [], execution: [], queue: [] } // ticks alone

/** `isWhole`: everything that is wanted fits into one stream. */
export const merge = (all: readonly Filters[]): { query: Query, isWhole: boolean } => {
    const query: Record<string, string | string[]> = { view: 'summary' }
    let room = FILTERS_MAX
    let wanted = 0
    for (const name of ['job', 'execution', 'queue'] as const) {
        const values = new Set<string>()
        for (const filters of all)
            filters[name]?.forEach(value => values.add(value))
        wanted += values.size
        query[name] = [...values].slice(0, room).sort()
        room -= query[name].length
    }
    return { query, isWhole: wanted <= FILTERS_MAX }
}

export class Share {
    private readonly tab = Math.random().toString(36).slice(2)
    private readonly channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(CHANNEL) : null
    private readonly takeOver: () => void
    private readonly others = new Map<string, { filters: Filters, at: number }>()
    private mine: Filters = {}
    private stream: Stream | null = null
    private query = ''
    private refused = ''
    private doubtedAt = Date.now()
    private settle: ReturnType<typeof setTimeout> | undefined
    private heardAt = Date.now()

    constructor(private readonly ears: Ears) {
        setInterval(() => this.poll(), CROWDED_MS)
        if (this.channel)
            this.channel.onmessage = message => this.hear(message.data as Message)
        this.takeOver = lead(() => this.begin(), () => this.end())
        setInterval(() => this.repeat(), REPEAT_MS)
        setInterval(() => this.stream ? this.say({ kind: 'alive' }) : this.doubt(), ALIVE_MS)
        addEventListener('pagehide', () => this.say({ kind: 'bye', tab: this.tab }))
    }

    want(filters: Filters): void {
        this.mine = filters
        this.say({ kind: 'wants', tab: this.tab, filters })
        this.changed()
    }

    /** Whoever reads begins anew: somebody has signed in. */
    restart(): void {
        this.say({ kind: 'restart' })
        this.stream?.restart()
    }

    private end(): void {
        this.stream?.close()
        this.stream = null
    }

    private begin(): void {
        const { query } = this.wanted()
        this.query = JSON.stringify(query)
        this.stream = new Stream(query, {
            onEvent: event => this.tell({ kind: 'event', event }),
            onOpen: (query, goesOn) => this.tell({ kind: 'open', filters: query as Filters, goesOn }),
            onAway: (why, status) => this.away(why, status),
        })
        this.say({ kind: 'who' })
    }

    /** A name that is refused, out of an address say, is not to take the numbers from all tabs: without names there is
     *  nothing to refuse. */
    private away(why: string, status?: number): void {
        if (status !== 400 || this.query === JSON.stringify(BARE)) {
            this.tell({ kind: 'away', why })
            return
        }
        this.refused = this.query
        this.query = JSON.stringify(BARE)
        this.stream?.change(BARE)
    }

    /** More is wanted than the stream may name: any of it may have changed, so it is read again and again. */
    private poll(): void {
        if (this.stream && !this.wanted().isWhole)
            this.tell({ kind: 'event', event: { event: 'changed', data: { count: 1 } } })
    }

    private wanted(): { query: Query, isWhole: boolean } {
        for (const [tab, { at }] of this.others) {
            if (Date.now() - at > FORGET_MS)
                this.others.delete(tab)
        }
        const all = merge([this.mine, ...[...this.others.values()].map(other => other.filters)])
        return JSON.stringify(all.query) === this.refused ? { query: BARE, isWhole: false } : all
    }

    private changed(): void {
        clearTimeout(this.settle)
        this.settle = setTimeout(() => {
            const { query } = this.wanted()
            const text = JSON.stringify(query)
            if (this.stream && text !== this.query) {
                this.query = text
                this.stream.change(query)
            }
        }, SETTLE_MS)
    }

    private say(message: Message): void {
        this.channel?.postMessage(message)
    }

    private tell(message: Message): void {
        this.say(message)
        this.deliver(message)
    }

    private repeat(): void {
        this.say({ kind: 'wants', tab: this.tab, filters: this.mine })
        this.changed()
    }

    private doubt(): void {
        const now = Date.now()
        const slept = now - this.doubtedAt > DEAD_MS // and the reader, too, perhaps: it gets its time
        this.doubtedAt = now
        if (slept)
            this.heardAt = now
        if (now - this.heardAt < DEAD_MS || document.visibilityState !== 'visible')
            return
        this.heardAt = now
        this.takeOver()
    }

    private hear(message: Message): void {
        if (message.kind !== 'wants' && message.kind !== 'bye') // which every tab says
            this.heardAt = Date.now()
        if (message.kind === 'wants') {
            this.others.set(message.tab, { filters: message.filters, at: Date.now() })
            this.changed()
        } else if (message.kind === 'bye') {
            this.others.delete(message.tab)
            this.changed()
        } else if (message.kind === 'who')
            this.say({ kind: 'wants', tab: this.tab, filters: this.mine })
        else if (message.kind === 'restart')
            this.stream?.restart()
        else
            this.deliver(message)
    }

    private deliver(message: Message): void {
        if (message.kind === 'event')
            this.ears.onEvent(message.event)
        else if (message.kind === 'open')
            this.ears.onOpen(message.filters, message.goesOn)
        else if (message.kind === 'away')
            this.ears.onAway(message.why)
    }
}
