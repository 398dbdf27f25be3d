// The overview in one sentence: what is wrong, what runs, and what waits for what. Pure.
import { isMerelyTime, waitsFor } from '../../base/blockers'
import { count, number } from '../../base/format'

export interface Situation {
    running: number
    failedLastHour: number | null
    usualPerHour: number | null
    blockers: Record<string, number>
    workers: number
}

/** Who waits although their time has come, the most first. */
export function realWaits(blockers: Record<string, number>): [string, number][] {
    return Object.entries(blockers).filter(([kind, n]) => n > 0 && !isMerelyTime(kind)).sort((a, b) => b[1] - a[1])
}

export function isMoreThanUsual(failed: number, usual: number | null): boolean {
    return failed > 0 && (usual === null ? failed >= 3 : failed > 2 * usual + 2)
}

export function sentence(now: Situation): string {
    const said: string[] = []
    const failed = now.failedLastHour
    if (failed)
        said.push(`${count(failed, 'run')} failed in the last hour` +
            (now.usualPerHour === null ? '' : ` (usually ${number(now.usualPerHour)})`))
    said.push(now.running > 0 ? `${number(now.running)} ${now.running === 1 ? 'runs' : 'run'}` : 'nothing runs')
    const waits = realWaits(now.blockers)
    const waiting = waits.reduce((sum, [, n]) => sum + n, 0)
    if (waiting > 0) {
        const why = waits.slice(0, 3).map(([kind, n]) => waits.length === 1 ? waitsFor(kind)
            : `${number(n)} ${waitsFor(kind)}`)
        const rest = waits.length > 3 ? ', and others' : ''
        said.push(`${number(waiting)} ${waiting === 1 ? 'waits' : 'wait'}${waits.length === 1 ? ' ' : ': '}` +
            why.join(', ') + rest)
    } else
        said.push('nothing waits that could run')
    if (now.workers === 0)
        said.push('there is no worker')
    const text = said.join(', ')
    return text[0].toUpperCase() + text.slice(1) + '.'
}
