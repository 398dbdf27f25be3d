// A moment, relative below a day, with the exact time and its zone on hover; and how long something took.
import { useMemo } from 'preact/hooks'
import { exact, parse, pickZone, relative, TimeWish } from '../../base/when'
import { duration } from '../../base/format'
import { zoneChoice } from '../../base/zone'
import { now } from '../../live/live'
import { useSaid } from './said'

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
    const shown = pickZone(zoneChoice.value, zone)
    const away = useSaid(() => ms === null ? '' : relative(ms, now.value, shown), [ms, shown])
    const whole = useMemo(() => ms === null ? '' : exact(ms, shown), [ms, shown])
    if (ms === null)
        return <span class="soft">{none}</span>
    return (
        <time class="number" dateTime={at!} title={exactly ? away : whole}>
            {exactly ? exact(ms, shown, exactly === true ? {} : exactly) : away}
        </time>
    )
}

const DAY_MS = 86_400_000

/** "in 5 min", beside an exact time; nothing when it is a day or more away. */
export function Away({ at }: { at: string }) {
    const ms = parse(at)
    const away = useSaid(() => ms === null || Math.abs(ms - now.value) >= DAY_MS ? ''
        : relative(ms, now.value, 'UTC'), [ms])
    return away === '' ? null : <span class="soft small number">{away}</span>
}

/** Of milliseconds, or since a moment and still going on. */
export function Duration({ ms, since }: { ms?: number | null, since?: string | null }) {
    const from = parse(since)
    const length = useSaid(() => typeof ms === 'number' ? duration(ms)
        : from === null ? '' : duration(Math.max(0, now.value - from)), [ms, from])
    if (length === '')
        return <span class="soft">–</span>
    return <span class="number" title={typeof ms === 'number' ? `${ms.toLocaleString('en')} ms` : undefined}>
        {length}</span>
}
