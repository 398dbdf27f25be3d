// Actions on many executions, and which filters of the list each can go by (docs/protocol.md, "Actions on
// many"). What is not foreseen here is refused by the server in its own words.
import type { Query } from '../../base/query'
import type { Deed } from '../common/bulk'

export interface ExecutionDeed extends Deed {
    /** Filters of the list that "all that match" cannot go by. */
    not: string[]
    /** Those of the status that it is about; others stay as they are. */
    of: string[]
}

export const deeds: ExecutionDeed[] = [
    {
        action: 'retry', verb: 'Retry', done: 'run again', of: ['failed', 'timeout'],
        not: ['tag', 'team', 'worker', 'started_after', 'started_before'],
        meaning: 'Each runs once more, as a new execution of its job. It goes by dead letters: executions that ' +
            'failed for good, or timed out, and that nobody has run again or discarded.',
    },
    {
        action: 'cancel', verb: 'Cancel', done: 'cancelled', danger: true,
        of: ['scheduled', 'blocked', 'queued', 'running', 'retrying'],
        not: ['class', 'fingerprint', 'finished_after', 'finished_before'],
        meaning: 'What runs is stopped, and what waits does not start. This cannot be undone.',
    },
]

/** Why this cannot be done with all that match, instead of those that were picked; null: it can. */
export function whyNotAll(deed: ExecutionDeed, filter: Query): string | null {
    const status = [filter.status ?? []].flat() as string[]
    const strange = status.filter(one => !deed.of.includes(one))
    if (strange.length > 0)
        return `${strange.join(', ')} cannot be ${deed.done}`
    const foreign = Object.keys(filter).filter(name => deed.not.includes(name))
    if (foreign.length > 0)
        return `${deed.verb} cannot go by ${foreign.join(', ').replace(/_/g, ' ')}: pick rows instead`
    return filter.worker && String(filter.status) !== 'running'
        ? `${deed.verb} goes by a worker beside the status running alone` : null
}
