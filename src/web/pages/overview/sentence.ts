// The overview in one sentence: what is wrong, what runs, and what waits for what; each number leads to what it counts.
// Pure.
import { isMerelyTime, waitsFor } from '../../base/blockers'
import { count, number } from '../../base/format'
import type { Failures } from '../common/failures'

export interface Situation {
    running: number
    failed: Failures
    blockers: Record<string, number>
    workers: number
}

export interface Said { text: string, href?: string }

/** Who waits although their time has come, the most first. */
function realWaits(blockers: Record<string, number>): [string, number][] {
    return Object.entries(blockers).filter(([kind, n]) => n > 0 && !isMerelyTime(kind)).sort((a, b) => b[1] - a[1])
}

export function isMoreThanUsual({ count: failed, usualPerHour: usual }: Failures): boolean {
    return !!failed && (usual === null ? failed >= 3 : failed > 2 * usual + 2)
}

const HELD = '/executions?status=queued&status=blocked'

const lists: Record<string, string> = {
    scheduled: '/executions?status=scheduled',
    retry: '/executions?status=retrying',
    dependency: '/executions?status=blocked',
    overlap: '/executions?status=blocked',
    job_paused: '/jobs?status=paused',
    queue_paused: '/queues',
    breaker: '/breakers',
    probation: '/breakers',
}

/** The list behind the number of those that wait for this. */
export const behind = (kind: string): string => lists[kind] ?? HELD

function waits(blockers: Record<string, number>): Said[] {
    const found = realWaits(blockers)
    const sum = found.reduce((all, [, n]) => all + n, 0)
    if (sum === 0)
        return [{ text: 'nothing waits that could run' }]
    const all = `${number(sum)} ${sum === 1 ? 'waits' : 'wait'}`
    if (found.length === 1)
        return [{ text: `${all} ${waitsFor(found[0][0])}`, href: behind(found[0][0]) }]
    const why = found.slice(0, 3).flatMap(([kind, n], i): Said[] =>
        [{ text: i > 0 ? ', ' : ': ' }, { text: `${number(n)} ${waitsFor(kind)}`, href: behind(kind) }])
    return [{ text: all, href: HELD }, ...why, ...found.length > 3 ? [{ text: ', and others' }] : []]
}

export function sentence(now: Situation): Said[] {
    const said: Said[] = []
    const { failed } = now
    if (failed.count)
        said.push({ text: `${count(failed.count, 'run')} failed ${failed.when}`, href: failed.href }, { text:
            (failed.usualPerHour === null ? '' : ` (usually ${number(failed.usualPerHour)})`) + ', ' })
    said.push(now.running > 0
        ? { text: `${number(now.running)} ${now.running === 1 ? 'is' : 'are'} running`,
            href: '/executions?status=running' }
        : { text: 'nothing runs' }, { text: ', ' }, ...waits(now.blockers))
    if (now.workers === 0)
        said.push({ text: ', ' }, { text: 'there is no worker', href: '/workers' })
    const first = said[0]
    return [{ ...first, text: first.text[0].toUpperCase() + first.text.slice(1) }, ...said.slice(1), { text: '.' }]
}
