// Answers of the API, kept by their address: a page that is opened again shows at once what is known,
// while it is being read anew. Nothing known is ever replaced by a spinner; it is dated instead.
import { Signal, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Query, printQuery } from '../base/query'
import { isSeen } from '../base/seen'
import { onReset, watch, Wants } from '../live/live'
import { api } from './client'
import { Problem, problemOf } from './problem'

export interface Held<T> {
    data: T | null
    /** Of the newest attempt; data is then older than that. */
    problem: Problem | null
    /** When data was read, by the browser's clock. */
    at: number | null
    loading: boolean
}

export interface Loaded<T> extends Held<T> {
    /** Data is that of the address before, shown until the new one has come (option `keep`). */
    isPrevious: boolean
    reload: () => Promise<void>
    /** Puts in what an answer to a change told, or what it will be. */
    set: (data: T) => void
}

export interface ResourceOptions {
    /** Read again every so many milliseconds while somebody looks. */
    every?: number
    /** Read again when one of these changes (live/live.ts). */
    on?: Wants
    /** Show what was there under another address until this one has come. */
    keep?: boolean
}

const RESOURCES_MAX = 200
const FRESH_MS = 1000
const COALESCE_MS = 400
const EMPTY: Held<never> = { data: null, problem: null, at: null, loading: false }

/** Each sign-in is another one: what was asked for in the one before is nobody's. */
let era = 0

export class Resource<T> {
    readonly held: Signal<Held<T>> = signal(EMPTY)
    users = 0
    private running: Promise<void> | null = null
    private again = false
    private puts = 0
    private endResets = () => {}

    constructor(private readonly path: string, private readonly query: Query) {}

    /** Somebody shows it; `leave` undoes that. */
    use(): void {
        if (this.users++ === 0)
            this.endResets = onReset(() => void this.load())
    }

    leave(): void {
        if (--this.users === 0)
            this.endResets()
    }

    /** One at a time; asked for while it runs, it runs once more. */
    load(): Promise<void> {
        if (this.running) {
            this.again = true
            return this.running
        }
        this.running = this.read().finally(() => {
            this.running = null
            if (this.again && this.users > 0)
                void this.load()
            this.again = false
        })
        return this.running
    }

    /** Unless it is being read, or was within so many milliseconds: several may show the same. */
    refresh(ms: number): void {
        const { at } = this.held.peek()
        if (this.running === null && (at === null || Date.now() - at > ms))
            void this.load()
    }

    /** What is being read meanwhile may be older. */
    put(data: T): void {
        this.puts++
        this.held.value = { data, problem: null, at: Date.now(), loading: this.running !== null }
    }

    private async read(): Promise<void> {
        const asked = { era, puts: this.puts }
        this.held.value = { ...this.held.value, loading: true }
        const tell = (news: Partial<Held<T>>) => {
            if (asked.era === era)
                this.held.value = { ...this.held.value, ...news, loading: false }
        }
        try {
            const data = await api.get<T>(this.path, { query: this.query })
            this.again ||= asked.puts !== this.puts
            tell(asked.puts === this.puts ? { data, problem: null, at: Date.now() } : {})
        } catch (why) {
            tell({ problem: problemOf(why) })
        }
    }
}

const resources = new Map<string, Resource<unknown>>()

function find<T>(path: string, query: Query): Resource<T> {
    const key = path + printQuery(query)
    const found = resources.get(key) ?? new Resource<unknown>(path, query)
    resources.delete(key) // the one used last stands last
    resources.set(key, found)
    for (const [name, one] of resources) {
        if (resources.size <= RESOURCES_MAX)
            break
        if (one.users === 0)
            resources.delete(name)
    }
    return found as Resource<T>
}

export function forgetResources(): void {
    era++
    for (const [name, one] of resources) {
        one.held.value = EMPTY
        if (one.users === 0)
            resources.delete(name)
    }
}

/** Reads again what is shown and begins so: after a change that touches "/jobs", say. */
export function reloadAll(prefix: string): void {
    for (const [name, one] of resources) {
        if (!name.startsWith(prefix))
            continue
        if (one.users > 0)
            void one.load()
        else
            one.held.value = { ...one.held.value, at: null }
    }
}

const nothing = signal(EMPTY)

/** What GET path?query answers. A path of null reads nothing. */
export function useResource<T>(path: string | null, query: Query = {}, options: ResourceOptions = {}): Loaded<T> {
    const key = path === null ? null : path + printQuery(query)
    const resource = useMemo(() => path === null ? null : find<T>(path, query), [key])
    const before = useRef<T | null>(null)
    const wants = JSON.stringify(options.on ?? null)

    useEffect(() => {
        if (!resource)
            return undefined
        resource.use()
        const { every } = options
        resource.refresh(FRESH_MS)
        let soon: ReturnType<typeof setTimeout> | undefined
        const changed = () => {
            soon ??= setTimeout(() => {
                soon = undefined
                void resource.load()
            }, COALESCE_MS)
        }
        const look = () => {
            if (every && isSeen())
                resource.refresh(every / 2)
        }
        const timer = every && setInterval(look, every)
        const end = options.on ? watch(options.on, changed) : () => {}
        document.addEventListener('visibilitychange', look)
        return () => {
            resource.leave()
            clearTimeout(soon)
            if (timer)
                clearInterval(timer)
            document.removeEventListener('visibilitychange', look)
            end()
        }
    }, [resource, options.every, wants])

    const held = (resource ? resource.held : nothing as unknown as Signal<Held<T>>).value
    if (held.data !== null)
        before.current = held.data
    const isPrevious = held.data === null && !!options.keep && before.current !== null
    return {
        ...held,
        data: isPrevious ? before.current : held.data,
        isPrevious,
        reload: () => resource ? resource.load() : Promise.resolve(),
        set: data => resource?.put(data),
    }
}
