// Lists that come in pages, one behind the other, by cursor.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Query, printQuery } from '../base/query'
import { isSeen } from '../base/seen'
import { onReset } from '../live/live'
import { api } from './client'
import { Problem, problemOf } from './problem'

export interface Pages<T> {
    rows: T[]
    /** How many there are in all, when it was asked for; an estimate with a filter. */
    total: number | null
    totalIsEstimate: boolean
    hasMore: boolean
    /** The first rows, or further ones: reading anew what is there is not seen. */
    loading: boolean
    problem: Problem | null
    /** When the first page was read. */
    at: number | null
    /** Nothing has come yet; `rows` may be those of the address before, in `isPrevious`. */
    isFirst: boolean
    isPrevious: boolean
    more: () => void
    reload: () => void
}

interface Answer { next_cursor: string | null, total?: number, total_is_estimate?: boolean }

/** Reading again what was loaded costs a call per page; further down, it ends at so many. */
const RELOADED_PAGES_MAX = 4

type Work = 'all' | 'more'

export class List<T> {
    rows: T[] = []
    cursor: string | null = null
    pages = 0
    total: number | null = null
    totalIsEstimate = false
    at: number | null = null
    problem: Problem | null = null
    ended = false
    busy: Work | null = null
    private readonly wanted = new Set<Work>()
    private readonly abort = new AbortController()

    constructor(private readonly path: string, private readonly member: string, private readonly query: Query,
        private readonly changed: () => void) {}

    close(): void {
        this.ended = true
        this.abort.abort()
    }

    private fetch(cursor: string | null): Promise<Answer & Record<string, T[]>> {
        return api.get(this.path, { query: { ...this.query, cursor }, signal: this.abort.signal })
    }

    /** One thing at a time; what is asked for meanwhile is done then. */
    private async work(what: Work): Promise<void> {
        this.wanted.add(what)
        if (this.busy !== null)
            return
        while (!this.ended && this.wanted.size > 0) {
            this.busy = this.wanted.has('all') ? 'all' : 'more'
            this.wanted.delete(this.busy)
            this.changed()
            try {
                await (this.busy === 'all' ? this.readAll() : this.readMore())
                this.problem = null
            } catch (why) {
                this.problem = problemOf(why)
                this.wanted.clear()
            }
        }
        this.busy = null
        if (!this.ended)
            this.changed()
    }

    reload(): void {
        void this.work('all')
    }

    /** What failed is not asked for again by itself at once, but with the next poll. */
    more(): void {
        if (this.cursor !== null && this.problem === null && this.busy !== 'more')
            void this.work('more')
    }

    /** Far down all pages are too many to be read again, and rows that are looked at do not go away. */
    poll(): void {
        if (this.pages <= RELOADED_PAGES_MAX)
            this.reload()
        else if (this.problem !== null)
            void this.work('more')
    }

    /** As many pages as are there, swapped in at once. */
    private async readAll(): Promise<void> {
        let rows: T[] = []
        let cursor: string | null = null
        const wanted = Math.min(Math.max(this.pages, 1), RELOADED_PAGES_MAX)
        let pages = 0
        do {
            const answer: Answer & Record<string, T[]> = await this.fetch(cursor)
            if (pages++ === 0) {
                this.total = answer.total ?? null
                this.totalIsEstimate = answer.total_is_estimate ?? false
            }
            rows = rows.concat(answer[this.member])
            cursor = answer.next_cursor
        } while (pages < wanted && cursor)
        Object.assign(this, { rows, cursor, pages, at: Date.now() })
        this.countIfWhole()
    }

    private async readMore(): Promise<void> {
        if (this.cursor === null)
            return
        const answer = await this.fetch(this.cursor)
        this.rows = this.rows.concat(answer[this.member])
        this.cursor = answer.next_cursor
        this.pages++
        this.countIfWhole()
    }

    /** A total that is estimated is known once everything is here. */
    private countIfWhole(): void {
        if (this.total !== null && this.cursor === null)
            Object.assign(this, { total: this.rows.length, totalIsEstimate: false })
    }
}

/** What a list under this address holds, in the member of its answers that is named. */
export function usePages<T>(path: string, member: string, query: Query, options: { every?: number } = {}): Pages<T> {
    const [, render] = useState(0)
    const key = path + printQuery(query)
    const shown = useMemo(() => ({ before: [] as T[] }), [])
    const list = useMemo(() => new List<T>(path, member, query, () => render(n => n + 1)), [key])

    useEffect(() => {
        list.reload()
        const end = onReset(() => list.poll())
        return () => {
            list.close()
            end()
        }
    }, [list])
    useEffect(() => {
        const timer = options.every && setInterval(() => {
            if (isSeen())
                list.poll()
        }, options.every)
        return () => {
            if (timer)
                clearInterval(timer)
        }
    }, [list, options.every])

    const isFirst = list.at === null
    const isPrevious = isFirst && shown.before.length > 0
    if (!isFirst)
        shown.before = list.rows
    return {
        rows: isPrevious ? shown.before : list.rows,
        total: list.total,
        totalIsEstimate: list.totalIsEstimate,
        hasMore: list.cursor !== null,
        loading: list.busy === 'more' || (isFirst && list.busy !== null),
        problem: list.problem,
        at: list.at,
        isFirst,
        isPrevious,
        more: () => list.more(),
        reload: () => list.reload(),
    }
}
