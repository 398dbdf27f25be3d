// Numbers, durations and ids as people say them. Pure: no clock, no document.

/** 1,234,567 */
export function number(n: number): string {
    return Number.isInteger(n) ? n.toLocaleString('en') : n.toLocaleString('en', { maximumFractionDigits: 1 })
}

/** 950, 1.2 k, 3.4 M: where there is little room. */
export function compact(n: number): string {
    for (const [unit, name] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) {
        if (Math.abs(n) >= unit * 0.9995) // what would be said as a thousand of the smaller one
            return `${(n / unit).toFixed(Math.abs(n) < 9.95 * unit ? 1 : 0)} ${name}`
    }
    return String(Math.abs(n) < 99.95 ? Math.round(n * 10) / 10 : Math.round(n))
}

/** "1 job", "214 jobs", "2 queries" when the plural is told. */
export function count(n: number, one: string, many = one + 's'): string {
    return `${number(n)} ${n === 1 ? one : many}`
}

/** 412 ms, 12.4 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export function duration(ms: number): string {
    if (ms < 0)
        return '-' + duration(-ms)
    if (ms < 999.5)
        return `${Math.round(ms)} ms`
    if (ms < 59_950)
        return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`
    const units: [number, string][] = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1000, 's']]
    let rest = ms < 3_600_000 ? Math.round(ms / 1000) * 1000 : Math.round(ms / 60_000) * 60_000
    const said: string[] = []
    for (const [unit, name] of units) {
        const n = Math.floor(rest / unit)
        rest -= n * unit
        if (n > 0)
            said.push(`${n} ${name}`)
        if (said.length === 2)
            break
    }
    return said.join(' ')
}

/** Of microseconds, as the times of commits are: 864 µs, 2.7 ms, 1.2 s. */
export function micros(us: number): string {
    if (us < 1000)
        return `${Math.round(us)} µs`
    return us < 100_000 ? `${(us / 1000).toFixed(1)} ms` : duration(us / 1000)
}

/** Numbers that follow each other are drawn together: 0–4, 7, 9–11. */
export function ranges(numbers: readonly number[]): string {
    const said: string[] = []
    const sorted = [...numbers].sort((a, b) => a - b)
    for (let from = 0; from < sorted.length;) {
        let to = from
        while (sorted[to + 1] === sorted[to] + 1)
            to++
        said.push(to === from ? String(sorted[from])
            : `${sorted[from]}${to === from + 1 ? ', ' : '–'}${sorted[to]}`)
        from = to + 1
    }
    return said.join(', ')
}

/** 512 B, 1.2 KiB, 3.4 MiB */
export function bytes(n: number): string {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
    let unit = 0
    while (n >= 1024 && unit < units.length - 1) {
        n /= 1024
        unit++
    }
    return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`
}

/** A share of one: 12 %, 0.4 %. */
export function percent(share: number): string {
    const p = share * 100
    return `${p !== 0 && Math.abs(p) < 10 ? p.toFixed(1) : Math.round(p)} %`
}

/** job_…4jh80c: the kind, and the end, which differs. */
export function shortId(id: string): string {
    const at = id.indexOf('_')
    return at < 0 || id.length - at <= 8 ? id : `${id.slice(0, at + 1)}…${id.slice(-6)}`
}

/** What a command looks like in a list. */
export function commandText(command: unknown): string {
    return Array.isArray(command) ? command.join(' ') : String(command ?? '')
}
