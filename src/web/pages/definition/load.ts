// How busy it is when a schedule would run, by a forecast of the next day in quarters of an hour. Pure.
import type { Forecast } from 'openapi'
import { parse } from '../../base/when'

export const STEP_MS = 15 * 60_000
const HOUR_MS = 4 * STEP_MS
const DAY_MS = 24 * HOUR_MS
const AROUND = 8 // quarters that count as near
const QUIETER_MAX = 2

export interface Load { at: number, quarter: number, hour: number }
export interface Quiet { at: number, runs: number }

const runsOf = (forecast: Forecast) => forecast.steps.map(step => step.fires + step.held)

/** The forecast begins with the next hour, so that its steps are those of clocks, and one answer is good for long. */
export const beginOf = (now: number) => Math.ceil(now / HOUR_MS) * HOUR_MS

/** Where in the forecast a moment is; one outside of it counts as the same time of the day. */
function indexOf(forecast: Forecast, at: number): number | null {
    const since = ((at - parse(forecast.from)!) % DAY_MS + DAY_MS) % DAY_MS
    const i = Math.floor(since / forecast.step_ms)
    return i < forecast.steps.length ? i : null
}

/** Of a moment: the runs due in its quarter of an hour, and in its hour. */
export function loadAt(forecast: Forecast, at: number): Load | null {
    const i = indexOf(forecast, at)
    const runs = runsOf(forecast)
    if (i === null)
        return null
    const hour = runs.slice(i - i % 4, i - i % 4 + 4).reduce((sum, one) => sum + one, 0)
    return { at, quarter: runs[i], hour }
}

/** Times near it at which less than half as much is due, the quietest first. */
export function quieter(forecast: Forecast, at: number): Quiet[] {
    const i = indexOf(forecast, at)
    const runs = runsOf(forecast)
    if (i === null || runs[i] < 2)
        return []
    const from = parse(forecast.from)!
    return runs.map((one, k) => ({ at: from + k * forecast.step_ms, runs: one, away: Math.abs(k - i) }))
        .filter(one => one.away > 0 && one.away <= AROUND && one.runs * 2 < runs[i])
        .sort((a, b) => a.runs - b.runs || a.away - b.away).slice(0, QUIETER_MAX)
        .map(one => ({ at: one.at, runs: one.runs }))
}

export interface Hour { at: number, runs: number, isIts: boolean }

/** Hour by hour, and in which of them the moments lie. */
export function hours(forecast: Forecast, moments: readonly number[]): Hour[] {
    const runs = runsOf(forecast)
    const from = parse(forecast.from)!
    const its = new Set(moments.map(at => indexOf(forecast, at)).filter(i => i !== null).map(i => Math.floor(i / 4)))
    return Array.from({ length: Math.ceil(runs.length / 4) }, (_, hour) => ({
        at: from + hour * HOUR_MS, runs: runs.slice(hour * 4, hour * 4 + 4).reduce((sum, one) => sum + one, 0),
        isIts: its.has(hour),
    }))
}
