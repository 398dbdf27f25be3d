// The store of live data: the newest numbers, whether they are still coming, and events about what a page
// names. It knows nothing of pages.
import { computed, signal } from '@preact/signals'
import type { TickEvent } from 'openapi'
import { Filters, Share } from './share'
import type { StreamEvent } from './stream'

export type Wants = Filters
export interface LiveEvent {
    kind: string // execution, queue, breaker, sla
    data: { at: string, job_id?: string, execution_id?: string, queue?: string, event?: string, status?: string }
}

/** The numbers of /stats, a second old at most while all is well. */
export const tick = signal<TickEvent | null>(null)
/** When it came, by this browser's clock. */
export const tickAt = signal<number | null>(null)
/** The moment it is, once a second, by the server's clock as far as that is known. */
export const now = signal(Date.now())
/** The reason why nothing comes; null: it does, or is about to. */
export const awayWhy = signal<string | null>(null)

/** A moment of this browser's clock, by the server's. */
export const byServer = (ms: number) => ms + skewMs

const OLD_MS = 5000
let skewMs = 0 // of the server's clock to this one
const seconds = signal(Date.now()) // by this browser's clock

export type LiveState = 'starting' | 'live' | 'old' | 'away'
export const liveState = computed<LiveState>(() => {
    if (awayWhy.value !== null)
        return 'away'
    if (tickAt.value === null)
        return 'starting'
    return seconds.value - tickAt.value > OLD_MS ? 'old' : 'live'
})

interface Watcher { wants: Wants, hear: (event: LiveEvent | null) => void }
const watchers = new Set<Watcher>()
const resets = new Set<() => void>()
let share: Share | null = null
let isMissing = false // what is shown may lack something when the next stream begins
let covered: Wants = {} // what the stream tells of

const NAMES = ['job', 'execution', 'queue'] as const

function tellWants(): void {
    const all: Required<Filters> = { job: [], execution: [], queue: [] }
    for (const { wants } of watchers) {
        for (const name of NAMES)
            all[name].push(...wants[name] ?? [])
    }
    share?.want({ job: [...new Set(all.job)], execution: [...new Set(all.execution)],
        queue: [...new Set(all.queue)] })
}

function fits(wants: Wants, data: LiveEvent['data']): boolean {
    return !!(data.job_id && wants.job?.includes(data.job_id)) ||
        !!(data.execution_id && wants.execution?.includes(data.execution_id)) ||
        !!(data.queue && wants.queue?.includes(data.queue))
}

function onEvent({ event, data }: StreamEvent): void {
    awayWhy.value = null
    isMissing = true // as soon as this stream ends
    if (event === 'tick') {
        const numbers = data as TickEvent
        skewMs = Date.parse(numbers.time) - Date.now()
        tick.value = numbers
        tickAt.value = Date.now()
        return
    }
    for (const watcher of [...watchers]) {
        // So many changed that they were counted: any of them may have been meant.
        if (event === 'changed' || event === 'reset')
            watcher.hear(null)
        else if (fits(watcher.wants, data as LiveEvent['data']))
            watcher.hear({ kind: event, data: data as LiveEvent['data'] })
    }
}

function onAway(why: string): void {
    awayWhy.value = why
    isMissing = true
}

/** The stream is there. When it was away before, whatever is shown may have missed something; else only those who
 *  were not told of by the one before. */
function onOpen(filters: Wants, goesOn: boolean): void {
    const before = covered
    covered = filters
    awayWhy.value = null
    if (isMissing && !goesOn)
        resets.forEach(reset => reset())
    else {
        const isNew = (name: typeof NAMES[number], one: string) =>
            filters[name]?.includes(one) && !before[name]?.includes(one)
        for (const { wants, hear } of [...watchers]) {
            if (NAMES.some(name => wants[name]?.some(one => isNew(name, one))))
                hear(null)
        }
    }
    isMissing = true
}

/** Hears of what is named, until the function that it returns is called. An event of null: something may have
 *  changed, and nobody knows what. */
export function watch(wants: Wants, hear: (event: LiveEvent | null) => void): () => void {
    const watcher = { wants, hear }
    watchers.add(watcher)
    tellWants()
    return () => {
        watchers.delete(watcher)
        tellWants()
    }
}

/** Called when whatever is shown should be read anew. */
export function onReset(reset: () => void): () => void {
    resets.add(reset)
    return () => resets.delete(reset)
}

/** Begins it, or begins it anew for whoever has signed in now. */
export function startLive(): void {
    if (share) {
        share.restart()
        return
    }
    share = new Share({ onEvent, onOpen, onAway })
    tellWants()
    setInterval(() => {
        seconds.value = Date.now()
        now.value = Date.now() + skewMs
    }, 1000)
}
