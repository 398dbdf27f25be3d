// Rows of a log that were looked at, in pages; those that were used last are kept, within bounds. Pure.
import type { LogLine } from '../../api/logs'
import { parse, Span } from './ansi'
import { PLAIN, Style } from './style'

export const PAGE_ROWS = 500
const KEPT_BYTES = 24 << 20 // of text, besides the page that is read

export interface Row {
    line: LogLine
    /** What the lines above have left; no further back than to the beginning of its page. */
    style: Style
    /** How it is drawn, once it was. */
    spans?: Span[]
}
interface Page { rows: Row[], have: number, bytes: number, after: Map<string, Style> }

export class Kept {
    private readonly pages = new Map<number, Page>() // the one used last stands last

    row(at: number): Row | undefined {
        return this.pages.get(Math.floor(at / PAGE_ROWS))?.rows[at % PAGE_ROWS]
    }

    /** Whether so many rows of a page are there. */
    has(page: number, rows: number): boolean {
        return (this.pages.get(page)?.have ?? 0) >= rows
    }

    /** The first row that is kept whose line has this number or a higher one, if the line before is known, too. */
    find(number: number): number | null {
        for (const [at, page] of this.pages) {
            const i = page.rows.findIndex(row => row && row.line.n >= number)
            if (i > 0 || (i === 0 && (at === 0 || page.rows[0].line.n === number)))
                return at * PAGE_ROWS + i
        }
        return null
    }

    /** A page is put anew, from its beginning. */
    begin(page: number): void {
        this.pages.get(page)?.after.clear()
    }

    put(at: number, line: LogLine): void {
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
    }

    trim(): void {
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
}
