// Moments as people type them. Pure.

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A moment as the API takes it. "2h" is told by the minute, so that a list does not change with each second; what
 *  is no time is left for the server to refuse. */
export function momentOf(text: string, now: number): string {
    const length = /^(\d+)([smhdw])$/.exec(text.trim())
    if (length)
        return new Date(Math.floor(now / 60_000) * 60_000 - Number(length[1]) * UNIT_MS[length[2]]).toISOString()
    const ms = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.trim().replace(' ', 'T')}Z`)
    return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}
