// A moment, relative below a day, with the exact time and its zone on hover; and how long something took.
import { exact, parse, pickZone, relative, TimeWish } from '../../base/when'
import { duration } from '../../base/format'
import { zoneChoice } from '../../base/zone'
import { now } from '../../live/live'

interface TimeProps {
    at: string | null | undefined
    /** The zone of the job that it is about, for those who chose to see that. */
    zone?: string | null
    /** The exact time in the text, too. */
    exactly?: boolean | TimeWish
    none?: string
}

export function Time({ at, zone, exactly, none = '–' }: TimeProps) {
    const ms = parse(at)
    if (ms === null)
        return <span class="soft">{none}</span>
    const shown = pickZone(zoneChoice.value, zone)
    const whole = exact(ms, shown)
    const wish = exactly === true ? {} : exactly
    return (
        <time class="number" dateTime={at!} title={wish ? relative(ms, now.value, shown) : whole}>
            {wish ? exact(ms, shown, wish) : relative(ms, now.value, shown)}
        </time>
    )
}

const DAY_MS = 86_400_000

/** "in 5 min", beside an exact time; nothing when it is a day or more away. */
export function Away({ at }: { at: string }) {
    const ms = parse(at)
    return ms === null || Math.abs(ms - now.value) >= DAY_MS ? null
        : <span class="soft small number">{relative(ms, now.value, 'UTC')}</span>
}

/** Of milliseconds, or since a moment and still going on. */
export function Duration({ ms, since }: { ms?: number | null, since?: string | null }) {
    const from = parse(since)
    const length = ms ?? (from === null ? null : Math.max(0, now.value - from))
    if (length === null)
        return <span class="soft">–</span>
    return <span class="number" title={`${length.toLocaleString('en')} ms`}>{duration(length)}</span>
}
