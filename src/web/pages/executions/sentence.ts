// The numbers of all executions, in one sentence. Pure.
import type { ExecutionCounts } from 'openapi'
import { number } from '../../base/format'
import type { Failures } from '../common/failures'

export interface Part { text: string, href: string }

/** Each number is a link; what there is none of is not said. */
export function parts(counts: Partial<Record<keyof ExecutionCounts, number>>, failed: Failures): Part[] {
    const said: Part[] = []
    const say = (n: number | null | undefined, one: string, many: string, search: string) => {
        if (n)
            said.push({ text: `${number(n)} ${n === 1 ? one : many}`, href: `/executions?${search}` })
    }
    if (failed.count)
        said.push({ text: `${number(failed.count)} failed ${failed.when}`, href: failed.href })
    say(counts.running, 'runs', 'run', 'status=running')
    say(counts.queued, 'waits', 'wait', 'status=queued')
    say(counts.retrying, 'is tried again', 'are tried again', 'status=retrying')
    say(counts.blocked, 'is blocked', 'are blocked', 'status=blocked')
    say(counts.scheduled, 'is planned', 'are planned', 'status=scheduled')
    return said
}
