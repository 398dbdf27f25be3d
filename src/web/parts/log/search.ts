// Finding text in a log of any length: all of it is read once, some thousand lines at a time, and only the places
// are kept. What arrives later is looked through when it has come.
import type { LogSource } from '../../api/logs'
import { inPieces } from '../../base/pieces'
import { plain } from './ansi'

export const FOUND_MAX = 10_000
const READ_LINES = 5000
const NEWS_MS = 1000 // a log that grows is looked through so often

/** Whether a line is meant. */
export type Wanted = (text: string, stream: string) => boolean

/** Capitals count when there are some. */
export function hasText(text: string): Wanted {
    if (text !== text.toLowerCase())
        return line => plain(line).includes(text)
    return line => plain(line).toLowerCase().includes(text)
}

const bad = /error|exception|\bfatal|\bpanic|traceback|segmentation fault|\bfail(?:ed|ure)|\bcannot\b|\bdenied\b/i
const fine = /\b(?:0|no|without) (?:errors?|failures?|exceptions?)\b|\b(?:errors?|failed|failures?): ?0\b/gi

export const looksWrong: Wanted = text => {
    const line = plain(text)
    return bad.test(line) && bad.test(line.replace(fine, ''))
}

export class LogSearch {
    /** Rows, growing. */
    readonly found: number[] = []
    /** Rows that were looked through. */
    looked = 0
    problem: unknown = null
    /** All that there was has been looked through; what comes now is news. */
    isThrough = false
    private from = 1
    private running = false
    private again = false
    private readAt = -Infinity
    private readonly abort = new AbortController()

    constructor(private readonly source: LogSource, private readonly wanted: Wanted,
        private readonly changed: () => void, private readonly most = FOUND_MAX) {}

    close(): void {
        this.abort.abort()
    }

    get closed(): boolean {
        return this.abort.signal.aborted
    }

    get full(): boolean {
        return this.found.length >= this.most
    }

    /** Looks through what was not looked through yet. */
    async run(): Promise<void> {
        this.again = true
        if (this.running)
            return
        this.running = true
        while (this.again && !this.full && !this.closed) {
            const wait = this.readAt + NEWS_MS - Date.now()
            if (wait > 0)
                await new Promise(resolve => setTimeout(resolve, wait))
            this.again = false
            try {
                await this.read()
                this.problem = null
                this.isThrough = true
            } catch (why) {
                this.problem = why
            }
            this.readAt = Date.now()
        }
        this.running = false
        if (!this.closed)
            this.changed()
    }

    private async read(): Promise<void> {
        for (let more = true; more && !this.full && !this.closed;) {
            const { lines, end } = await this.source.read({ from: this.from }, READ_LINES, this.abort.signal)
            await inPieces(lines, line => {
                const row = this.source.isWhole ? line.n - 1 : this.looked
                if (!this.full && this.wanted(line.text, line.stream))
                    this.found.push(row)
                this.looked = row + 1
                this.from = line.n + 1
                return !this.full && !this.closed
            })
            more = end.more && lines.length > 0
            if (!this.closed)
                this.changed()
        }
    }

    /** The place in `found` of the first row at or behind this one, around the end. */
    next(row: number, back = false): number {
        const at = this.found.findIndex(one => one >= row)
        const behind = at < 0 ? this.found.length : at
        return back ? (behind + this.found.length - 1) % this.found.length : behind % this.found.length
    }
}
