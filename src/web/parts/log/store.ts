// The known part of a log: how many rows it has, and those that were looked at last. Rows are read as they are seen;
// a log of any length costs the same.
import type { LogLine, LogSource, LogWindow } from '../../api/logs'
import { inPieces } from '../../base/pieces'
import { whenSeen, whileSeen } from '../../base/seen'
import { Kept, PAGE_ROWS, Row } from './kept'
import { Windows } from './windows'

const PAUSE_MS = { soon: 30, again: 2000 }
const UNSEEN_MS = 3000 // so long a hidden tab follows: browsers have six connections for all tabs

/** The server has understood, and refuses: asking again is of no use. */
const isFinal = (why: unknown) => (why as { isPassing?: boolean }).isPassing === false

export class LogStore {
    total = 0
    /** Nothing follows, now or later. */
    complete = false
    /** Null: it has not been looked at. */
    opened: 'yes' | 'deleted' | null = null
    problem: unknown = null
    private readonly kept = new Kept()
    private readonly windows: Windows
    private last = 0 // number of the newest line
    private wanted: number[] = []
    private reading: number | null = null
    private timer: ReturnType<typeof setTimeout> | undefined
    private readonly abort = new AbortController()

    constructor(readonly source: LogSource, private readonly changed: () => void) {
        this.windows = new Windows(source)
    }

    close(): void {
        clearTimeout(this.timer)
        this.abort.abort()
    }

    private get closed(): boolean {
        return this.abort.signal.aborted
    }

    row(at: number): Row | undefined {
        return this.kept.row(at)
    }

    /** Where the line of this number is, or the next one; null when that was not read yet. */
    find(number: number): number | null {
        if (this.source.isWhole)
            return number - 1
        return this.kept.find(number) ?? (number > this.last ? Math.max(0, this.total - 1) : null)
    }

    /** These rows are looked at, the first before the others. */
    need(from: number, to: number): void {
        this.wanted = []
        for (let at = Math.floor(from / PAGE_ROWS); at * PAGE_ROWS < Math.min(to, this.total); at++)
            this.wanted.push(at)
        clearTimeout(this.timer)
        this.timer = setTimeout(() => void this.pump(), PAUSE_MS.soon)
    }

    private isWhole(at: number): boolean {
        return this.kept.has(at, Math.min(PAGE_ROWS, this.total - at * PAGE_ROWS))
    }

    private async pump(): Promise<void> {
        const at = this.wanted.find(one => !this.isWhole(one))
        if (this.closed || this.reading !== null || at === undefined)
            return
        this.reading = this.windows.known(at)
        try {
            await this.load(this.reading)
            this.problem = null
        } catch (why) {
            this.problem = why
        }
        this.reading = null
        if (this.closed)
            return
        this.changed()
        if (!isFinal(this.problem ?? {}))
            this.timer = setTimeout(() => void this.pump(), this.problem ? PAUSE_MS.again : 0)
    }

    private async load(page: number): Promise<void> {
        const want = Math.min(PAGE_ROWS, this.total - page * PAGE_ROWS)
        const lines = await this.windows.read(page, want, this.abort.signal)
        this.kept.begin(page)
        await inPieces(lines, (line, i) => this.put(page * PAGE_ROWS + i, line))
        this.kept.trim()
    }

    private put(at: number, line: LogLine): void {
        this.kept.put(at, line)
        this.last = Math.max(this.last, line.n)
    }

    /** The end is read first: it tells how many there are. Runs until `close`, or until nothing can follow. */
    async open(): Promise<void> {
        while (!this.closed) {
            try {
                const found = await this.source.read({ tail: PAGE_ROWS }, PAGE_ROWS, this.abort.signal)
                await this.begin(found)
                if (this.complete)
                    return
                await whileSeen(signal => this.source.follow(this.last + 1, this.append, signal), UNSEEN_MS,
                    this.abort.signal)
                await whenSeen(this.abort.signal)
            } catch (why) {
                this.problem = why
                if (this.closed)
                    return
                this.changed()
                if (isFinal(why))
                    return
            }
            await new Promise(resolve => setTimeout(resolve, this.problem ? PAUSE_MS.again : PAUSE_MS.soon))
        }
    }

    private async begin({ lines, end }: LogWindow): Promise<void> {
        const own = end.attempts.find(one => one.attempt === this.source.attempt)
        const total = own?.lines_of_stream ?? own?.lines ?? lines.length
        this.total = Math.max(this.source.isWhole ? total : Math.max(total, lines.length), this.total)
        await inPieces(lines, (line, i) => {
            const at = this.source.isWhole ? line.n - 1 : this.total - lines.length + i
            if (at >= 0 && !this.row(at))
                this.put(at, line)
        })
        this.complete = end.complete
        this.opened = end.deleted_attempts?.includes(this.source.attempt) ? 'deleted' : 'yes'
        this.problem = null
        if (!this.closed)
            this.changed()
    }

    private readonly append = (lines: LogLine[]): void => {
        for (const line of lines) {
            if (line.n <= this.last)
                continue
            const at = this.source.isWhole ? line.n - 1 : this.total
            this.put(at, line)
            this.total = Math.max(this.total, at + 1)
        }
        this.kept.trim()
        this.problem = null
        this.changed()
    }
}
