// Times as people say them, always with their zone. Pure: the moment it is now is handed in.

export type ZoneChoice = 'utc' | 'mine' | 'job'

const formats = new Map<string, Intl.DateTimeFormat>()

function parts(ms: number, zone: string): Record<string, string> {
    let format = formats.get(zone)
    if (format === undefined) {
        format = new Intl.DateTimeFormat('en-GB', {
            timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
            hour: '2-digit', minute: '2-digit', second: '2-digit', weekday: 'short',
        })
        formats.set(zone, format)
    }
    return Object.fromEntries(format.formatToParts(ms).map(part => [part.type, part.value]))
}

/** Whether the browser knows the zone; a name from elsewhere may be newer than its tables. */
function isZone(zone: string): boolean {
    try {
        parts(0, zone)
        return true
    } catch {
        return false
    }
}

export function myZone(): string {
    return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

/** "UTC", "Berlin": the label behind a time. */
export function zoneLabel(zone: string): string {
    return zone === 'Etc/UTC' ? 'UTC' : zone.slice(zone.lastIndexOf('/') + 1).replace(/_/g, ' ')
}

/** The zone to show a time in. A job's own zone counts where there is one. */
export function pickZone(choice: ZoneChoice, jobZone?: string | null): string {
    if (choice === 'mine')
        return myZone()
    return choice === 'job' && jobZone && isZone(jobZone) ? jobZone : 'UTC'
}

const HOUR = 3_600_000

/** " (UTC+1)" where clocks that are set back by an hour show this time twice, else nothing. */
function whichOf(ms: number, zone: string, p: Record<string, string>): string {
    const isSame = (other: Record<string, string>) => other.hour === p.hour && other.minute === p.minute
    if (zone === 'UTC' || ![HOUR, -HOUR].some(away => isSame(parts(ms + away, zone))))
        return ''
    const there = Date.UTC(+p.year, +p.month - 1, +p.day, +p.hour, +p.minute, +p.second)
    const hours = Math.round((there - ms) / HOUR * 2) / 2
    return ` (UTC${hours < 0 ? '' : '+'}${hours})`
}

export interface TimeWish { seconds?: boolean, day?: boolean, label?: boolean }

/** "2026-11-16 03:00:00 UTC" */
export function exact(ms: number, zone: string, wish: TimeWish = {}): string {
    const { seconds = true, day = true, label = true } = wish
    const p = parts(ms, zone)
    const clock = `${p.hour}:${p.minute}${seconds ? ':' + p.second : ''}`
    return `${day ? `${p.year}-${p.month}-${p.day} ` : ''}${clock}${
        label ? ` ${zoneLabel(zone)}${whichOf(ms, zone, p)}` : ''}`
}

const DAY = 86_400_000

/** Below a day "in 5 min", "12 s ago"; else the day with its zone. */
export function relative(ms: number, now: number, zone: string): string {
    const away = Math.abs(ms - now)
    if (away >= DAY)
        return exact(ms, zone, { seconds: false })
    if (away < 1500)
        return 'now'
    const said = away < 59_500 ? `${Math.round(away / 1000)} s`
        : away < HOUR ? `${Math.max(1, Math.floor(away / 60_000))} min`
            : `${Math.floor(away / HOUR)} h ${Math.floor(away % HOUR / 60_000)} min`
    return ms > now ? `in ${said}` : `${said} ago`
}

/** RFC 3339 as milliseconds; null when there is none. */
export function parse(text: string | null | undefined): number | null {
    if (!text)
        return null
    const ms = Date.parse(text)
    return Number.isNaN(ms) ? null : ms
}
