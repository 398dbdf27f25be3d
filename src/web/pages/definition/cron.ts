// Cron by clicking: the few schedules that most people mean, to and from an expression. What does not fit is typed.
// The meaning of an expression is told by the server alone. Pure.

export interface Clicked {
    kind: 'minutes' | 'hourly' | 'daily' | 'weekly' | 'monthly'
    step: number // minutes: 5, 10, …
    hour: number
    minute: number
    days: number[] // 0 to 6, Sunday first
    day: number // of the month; 32 is the last one
}

export const LAST_DAY = 32
export const STEPS = [1, 2, 5, 10, 15, 20, 30]
export const usual: Clicked = { kind: 'daily', step: 15, hour: 3, minute: 0, days: [1], day: 1 }

export function printCron(clicked: Clicked): string {
    const { kind, step, hour, minute, days, day } = clicked
    switch (kind) {
    case 'minutes': return step === 1 ? '* * * * *' : `*/${step} * * * *`
    case 'hourly': return `${minute} * * * *`
    case 'daily': return `${minute} ${hour} * * *`
    case 'weekly': return `${minute} ${hour} * * ${[...days].sort().join(',') || '*'}`
    case 'monthly': return `${minute} ${hour} ${day === LAST_DAY ? 'L' : day} * *`
    }
}

/** Null: it says more than can be clicked. */
export function readCron(text: string): Clicked | null {
    const fields = text.trim().split(/\s+/)
    if (fields.length !== 5)
        return null
    const [minute, hour, day, month, weekday] = fields
    const isNumber = (field: string, from: number, to: number) =>
        /^\d{1,2}$/.test(field) && Number(field) >= from && Number(field) <= to
    const step = minute === '*' ? 1 : Number(/^\*\/(\d+)$/.exec(minute)?.[1] ?? NaN)
    if (STEPS.includes(step) && [hour, day, month, weekday].every(field => field === '*'))
        return { ...usual, kind: 'minutes', step }
    if (!isNumber(minute, 0, 59) || month !== '*')
        return null
    const at = { ...usual, minute: Number(minute) }
    if ([hour, day, weekday].every(field => field === '*'))
        return { ...at, kind: 'hourly' }
    if (!isNumber(hour, 0, 23))
        return null
    const clock = { ...at, hour: Number(hour) }
    if (day === '*' && weekday === '*')
        return { ...clock, kind: 'daily' }
    if (day === '*' && /^[0-6](,[0-6])*$/.test(weekday))
        return { ...clock, kind: 'weekly', days: [...new Set(weekday.split(',').map(Number))] }
    if (weekday === '*' && (day === 'L' || isNumber(day, 1, 31)))
        return { ...clock, kind: 'monthly', day: day === 'L' ? LAST_DAY : Number(day) }
    return null
}
