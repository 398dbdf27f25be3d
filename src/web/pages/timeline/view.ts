// Which stretch of time is seen, and how one moves in it. Pure: the moment it is now is handed in.

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** What one sees of the past; a third as much lies ahead. */
export const spans = { '15m': 15 * MINUTE, '1h': HOUR, '3h': 3 * HOUR, '6h': 6 * HOUR, '12h': 12 * HOUR,
    '1d': 24 * HOUR, '3d': 72 * HOUR } as const
export type Span = keyof typeof spans
export const spanNames = Object.keys(spans) as Span[]

const AHEAD_SHARE = 0.25
const QUANTA = 160 // the picture moves on by such a part of it, so that the answer before it is asked for seldom
const REACH_MS = 31 * 24 * HOUR // ahead, as far as the server looks

export interface View {
    from: number
    until: number
    span: Span
    /** It goes on with the clock. */
    follows: boolean
}

export const isSpan = (text: string | null): text is Span => text !== null && text in spans

const lengthOf = (span: Span) => spans[span] / (1 - AHEAD_SHARE)
const quantumOf = (span: Span) => Math.max(1000, Math.floor(lengthOf(span) / QUANTA / 1000) * 1000)

/** `from` of null follows the clock. */
export function viewOf(span: Span, from: number | null, now: number): View {
    const length = lengthOf(span)
    const quantum = quantumOf(span)
    const ideal = from ?? now - spans[span]
    const start = Math.ceil(ideal / quantum) * quantum
    return { from: start, until: start + length, span, follows: from === null }
}

/** Earlier or later by a share of what is seen. */
export function moved(view: View, share: number, now: number): number {
    const length = view.until - view.from
    return Math.min(view.from + share * length, now + REACH_MS - length)
}

/** The next span, and where it begins so that the moment `at` stays where it is seen. */
export function zoomed(view: View, step: 1 | -1, at: number): { span: Span, from: number } | null {
    const span = spanNames[spanNames.indexOf(view.span) + step]
    if (!span)
        return null
    const share = (at - view.from) / (view.until - view.from)
    return { span, from: at - share * lengthOf(span) }
}

/** The span that shows a stretch as a whole, from a little before it. */
export function closeUp(from: number, until: number): { span: Span, from: number } {
    const length = (until - from) * 1.5
    const span = spanNames.find(name => lengthOf(name) >= length) ?? spanNames[spanNames.length - 1]
    return { span, from: from - (lengthOf(span) - (until - from)) / 2 }
}

const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map(minutes => minutes * MINUTE)

/** Moments that the axis names, at most so many. */
export function ticks(view: View, most: number): number[] {
    const step = TICKS.find(one => (view.until - view.from) / one <= most) ?? TICKS[TICKS.length - 1]
    const found: number[] = []
    for (let at = Math.ceil(view.from / step) * step; at < view.until; at += step)
        found.push(at)
    return found
}
