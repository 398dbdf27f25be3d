// Durations as requests write them ("90s", "1h30m", "2d"), as milliseconds. The server decides what is one; this
// is for what a page computes. Pure.

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function parseDuration(text: unknown): number | null {
    if (typeof text !== 'string' || !/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text))
        return null
    let ms = 0
    for (const [, n, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
        ms += Number(n) * UNITS[unit]
    return ms
}
