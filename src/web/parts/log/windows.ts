// Where the pages of a log begin, and reading one of them.
import type { LogLine, LogSource } from '../../api/logs'
import { PAGE_ROWS } from './kept'

export class Windows {
    /** Number of the first line of each page. */
    private readonly starts: (number | undefined)[] = [1]

    constructor(private readonly source: LogSource) {}

    /** The page itself, if it is known where it begins; else the last one before: of one stream, a page's beginning
     *  is known when the page before was read. */
    known(page: number): number {
        if (this.source.isWhole)
            this.starts[page] = page * PAGE_ROWS + 1
        let known = page
        while (this.starts[known] === undefined)
            known--
        return known
    }

    /** The first lines of a page that is known. Answers are bounded by bytes, too: several may make one. */
    async read(page: number, want: number, signal: AbortSignal): Promise<LogLine[]> {
        const lines: LogLine[] = []
        for (let from = this.starts[page]!; lines.length < want;) {
            const found = await this.source.read({ from }, want - lines.length, signal)
            if (found.lines.length === 0)
                break
            lines.push(...found.lines)
            from = lines[lines.length - 1].n + 1
        }
        if (lines.length === PAGE_ROWS)
            this.starts[page + 1] ??= lines[lines.length - 1].n + 1
        return lines
    }
}
