// Lists that come in pages, one behind the other, by cursor.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Query, printQuery } from '../base/query'
import { onReset } from '../live/live'
import { api } from './client'
import { Problem, problemOf } from './problem'

export interface Pages<T> {
    rows: T[]
    /** How many there are in all, when it was asked for; an estimate with a filter. */
    total: number | null
    totalIsEstimate: boolean
    hasMore: boolean
    loading: boolean
    problem: Problem | null
    /** When the first page was read. */
    at: number | null
    /** Nothing has come yet; `rows` may be those of the address before, in `isPrevious`. */
    isFirst: boolean
    isPrevious: boolean
    more: () => void
    reload: () => void
    /** Changes a row that is there, until it is read again. */
    patch: (matches: (row: T) => boolean, change: (row: T) => T) => void
}

interface Answer { next_cursor: string | null, total?: number, total_is_estimate?: boolean }

/** Reading again what was loaded costs a call per page; further down, it ends at so many. */
const RELOADED_PAGES_MAX = 4

class List<T> {
    rows: T[] = []
    cursor: string | null = null
    pages = 0
    total: number | null = null
    totalIsEstimate = false
    at: number | null = null
    loading = false
    problem: Problem | null = null
    ended = false
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

    private async run(work: () => Promise<void>): Promise<void> {
        if (this.loading)
            return
        this.loading = true
        this.changed()
        try {
            await work()
            this.problem = null
        } catch (why) {
            this.problem = problemOf(why)
        }
        this.loading = false
        if (!this.ended)
            this.changed()
    }

    /** As many pages as are there, swapped in at once. */
    reload(): Promise<void> {
        return this.run(async () => {
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
        })
    }

    more(): Promise<void> {
        if (this.cursor === null)
            return Promise.resolve()
        return this.run(async () => {
            const answer = await this.fetch(this.cursor)
            this.rows = this.rows.concat(answer[this.member])
            this.cursor = answer.next_cursor
            this.pages++
            this.countIfWhole()
        })
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
        void list.reload()
        const timer = options.every && setInterval(() => {
            if (document.visibilityState === 'visible' && list.pages <= RELOADED_PAGES_MAX)
                void list.reload()
        }, options.every)
        const end = onReset(() => void list.reload())
        return () => {
            list.close()
            end()
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
        loading: list.loading,
        problem: list.problem,
        at: list.at,
        isFirst,
        isPrevious,
        more: () => void list.more(),
        reload: () => void list.reload(),
        patch: (matches, change) => {
            list.rows = list.rows.map(row => matches(row) ? change(row) : row)
            render(n => n + 1)
        },
    }
}
