// Where two outputs part: lines are compared without what differs in every run (times, dates, durations, ids), and
// what differs is told with some lines around it. Pure.

const BEFORE = 2 // lines of context
const HUNKS_MAX = 4
const LINES_MAX = 60 // that are told

const noise: [RegExp, string][] = [
    [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2})\b)?/g, '<time>'],
    [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b/g, '<time>'],
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
    [/\b(?:job|exec|wrk|op)_[0-9a-z]{13}\b/g, '<id>'],
    [/\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b/gi, '<id>'],
    [/\b(?:pid|PID)[ =:]?\d+|\[\d+\]/g, '<pid>'],
    [/\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds|min|minutes)\b/g, '<duration>'],
]

export const withoutNoise = (line: string): string =>
    noise.reduce((text, [what, word]) => text.replace(what, word), line)

export interface DiffLine { kind: 'same' | 'before' | 'after', n: number, text: string }
/** `more`: there are differences behind these. */
export interface LineDiff { hunks: DiffLine[][], more: boolean, noisy: boolean }

interface Side { text: string, n: number, key: string }

const sideOf = (lines: readonly string[]): Side[] =>
    lines.map((text, i) => ({ text, n: i + 1, key: withoutNoise(text) }))

/** How long a common sequence of each pair of tails is, one row for each line of a. */
function tails(a: readonly Side[], b: readonly Side[]): Uint16Array[] {
    const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
    for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--)
            rows[i][j] = a[i].key === b[j].key ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1])
    }
    return rows
}

function steps(a: readonly Side[], b: readonly Side[]): DiffLine[] {
    const rows = tails(a, b)
    const found: DiffLine[] = []
    let i = 0
    let j = 0
    while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i].key === b[j].key) {
            found.push({ kind: 'same', n: b[j].n, text: b[j].text })
            i++
            j++
        } else if (j === b.length || (i < a.length && rows[i + 1][j] >= rows[i][j + 1])) {
            found.push({ kind: 'before', n: a[i].n, text: a[i].text })
            i++
        } else {
            found.push({ kind: 'after', n: b[j].n, text: b[j].text })
            j++
        }
    }
    return found
}

/** `before` is the output to compare with. Both are the beginnings of what was printed. */
export function diffLines(before: readonly string[], after: readonly string[]): LineDiff {
    const all = steps(sideOf(before), sideOf(after))
    const hunks: DiffLine[][] = []
    let told = 0
    let last = -1 // the newest line that is told
    let more = false
    all.forEach((line, i) => {
        if (line.kind === 'same' || i <= last)
            return
        let end = i
        while (end + 1 < all.length && all[end + 1].kind !== 'same')
            end++
        if (hunks.length === HUNKS_MAX || told >= LINES_MAX) {
            more = true
            return
        }
        const from = Math.max(last + 1, i - BEFORE)
        const hunk = all.slice(from, Math.min(end + 1 + BEFORE, from + LINES_MAX - told))
        more ||= from + hunk.length <= end
        if (from === last + 1 && hunks.length > 0 && i - BEFORE <= last)
            hunks[hunks.length - 1].push(...hunk)
        else
            hunks.push(hunk)
        told += hunk.length
        last = Math.max(end, from + hunk.length - 1)
    })
    return { hunks, more, noisy: hunks.length === 0 && before.some((line, i) => line !== after[i]) }
}
