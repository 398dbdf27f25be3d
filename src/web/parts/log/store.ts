// What is known of a log: how many rows it has, and the pages of them that were looked at last. Rows are read as
// they are seen, and kept within bounds; a log of any length costs the same.
import type { LogLine, LogSource, LogWindow } from '../../api/logs'
import { inPieces } from '../../base/pieces'
import { parse, PLAIN, Span, Style } from './ansi'

export const PAGE_ROWS = 500
const KEPT_BYTES = 24 << 20 // of text, besides the page that is read
const PAUSE_MS = { soon: 30, again: 2000 }

export interface Row {
    line: LogLine
    /** What the lines above have left; no further back than to the beginning of its page. */
    style: Style
    /** How it is drawn, once it was. */
    spans?: Span[]
}

/** The server has understood, and refuses: asking again is of no use. */
const isFinal = (why: unknown) => (why as { isPassing?: boolean }).isPassing === false

interface Page { rows: Row[], have: number, bytes: number, after: Map<string, Style> }

export class LogStore {
    total = 0
    /** Nothing follows, now or later. */
    complete = false
    /** Null: it has not been looked at. */
    opened: 'yes' | 'deleted' | null = null
    problem: unknown = null
    private readonly pages = new Map<number, Page>() // the one used last stands last
    private readonly starts: (number | undefined)[] = [1] // number of the first line of each page
    private last = 0 // number of the newest line
    private wanted: number[] = []
    private reading: number | null = null
    private timer: ReturnType<typeof setTimeout> | undefined
    private readonly abort = new AbortController()

    constructor(readonly source: LogSource, private readonly changed: () => void) {
        void this.open()
    }

    close(): void {
        clearTimeout(this.timer)
        this.abort.abort()
    }

    private get closed(): boolean {
        return this.abort.signal.aborted
    }

    row(at: number): Row | undefined {
        return this.pages.get(Math.floor(at / PAGE_ROWS))?.rows[at % PAGE_ROWS]
    }

    /** Where the line of this number is, or the next one; null when that was not read yet. */
    find(number: number): number | null {
        if (this.source.isWhole)
            return number - 1
        for (const [at, page] of this.pages) {
            const i = page.rows.findIndex(row => row && row.line.n >= number)
            if (i > 0 || (i === 0 && (at === 0 || page.rows[0].line.n === number)))
                return at * PAGE_ROWS + i
        }
        return number > this.last ? Math.max(0, this.total - 1) : null
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
        const page = this.pages.get(at)
        return !!page && page.have >= Math.min(PAGE_ROWS, this.total - at * PAGE_ROWS)
    }

    private async pump(): Promise<void> {
        const at = this.wanted.find(one => !this.isWhole(one))
        if (this.closed || this.reading !== null || at === undefined)
            return
        this.reading = this.known(at)
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

    /** A page whose first line is known: of one stream, that takes reading the pages before. */
    private known(at: number): number {
        if (this.source.isWhole)
            this.starts[at] = at * PAGE_ROWS + 1
        let known = at
        while (this.starts[known] === undefined)
            known--
        return known
    }

    /** Answers are bounded by bytes, too: several may make a page. */
    private async load(at: number): Promise<void> {
        const want = Math.min(PAGE_ROWS, this.total - at * PAGE_ROWS)
        const lines: LogLine[] = []
        for (let from = this.starts[at]!; lines.length < want;) {
            const found = await this.source.read({ from }, want - lines.length, this.abort.signal)
            if (found.lines.length === 0)
                break
            lines.push(...found.lines)
            from = lines[lines.length - 1].n + 1
        }
        this.pages.get(at)?.after.clear()
        await inPieces(lines, (line, i) => this.put(at * PAGE_ROWS + i, line))
        if (lines.length > 0)
            this.starts[at + 1] ??= lines[lines.length - 1].n + 1
        this.trim()
    }

    private put(at: number, line: LogLine): void {
        const number = Math.floor(at / PAGE_ROWS)
        const page = this.pages.get(number) ?? { rows: [], have: 0, bytes: 0, after: new Map<string, Style>() }
        const style = page.after.get(line.stream) ?? PLAIN
        this.pages.delete(number)
        this.pages.set(number, page)
        const before = page.rows[at % PAGE_ROWS]
        page.have += before ? 0 : 1
        page.bytes += line.text.length - (before?.line.text.length ?? 0)
        page.rows[at % PAGE_ROWS] = { line, style }
        page.after.set(line.stream, parse(line.text, style).after)
        this.last = Math.max(this.last, line.n)
    }

    private trim(): void {
        let bytes = 0
        for (const page of this.pages.values())
            bytes += page.bytes
        for (const [at, page] of this.pages) {
            if (bytes <= KEPT_BYTES || this.pages.size < 3)
                return
            bytes -= page.bytes
            this.pages.delete(at)
        }
    }

    /** The end is read first: it tells how many there are. */
    private async open(): Promise<void> {
        while (!this.closed) {
            try {
                const found = await this.source.read({ tail: PAGE_ROWS }, PAGE_ROWS, this.abort.signal)
                await this.begin(found)
                if (!this.complete)
                    await this.source.follow(this.last + 1, lines => this.append(lines), this.abort.signal)
                if (this.complete)
                    return
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

    private append(lines: LogLine[]): void {
        for (const line of lines) {
            if (line.n <= this.last)
                continue
            const at = this.source.isWhole ? line.n - 1 : this.total
            this.put(at, line)
            this.total = Math.max(this.total, at + 1)
        }
        this.trim()
        this.problem = null
        this.changed()
    }
}
