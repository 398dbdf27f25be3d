// Whether a schedule comes oftener than one would want. Pure.
import { count, duration, number } from '../../base/format'

const FREQUENT_MS = 60_000 // below: each run is a process, a row and its output
export const DAY_MS = 86_400_000

/** The shortest time between two runs; null when there are fewer than two. */
function shortestGap(runs: readonly string[]): number | null {
    const times = runs.map(Date.parse)
    const gaps = times.slice(1).map((ms, i) => ms - times[i])
    return gaps.length > 0 ? Math.min(...gaps) : null
}

/** What to say of it, or null. */
export function frequentText(runs: readonly string[]): string | null {
    const gap = shortestGap(runs)
    if (gap === null || gap >= FREQUENT_MS)
        return null
    const length = Date.parse(runs[runs.length - 1]) - Date.parse(runs[0])
    const aDay = length > 0 ? Math.round((runs.length - 1) * DAY_MS / length) : 0
    return `Runs are only ${duration(gap)} apart, about ${number(aDay)} a day at that pace: each is a row in the ` +
        `history and ${count(1, 'process', 'processes')}. With overlap "skip", which is usual, one that takes longer ` +
        'than that skips the next.'
}
