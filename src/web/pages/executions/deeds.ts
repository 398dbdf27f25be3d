// What can be done with many executions, and which filters the call for it knows.
import { Query } from '../../base/query'
import type { Deed } from '../common/bulk'

const shared = ['status', 'queue', 'name', 'owner', 'job', 'created_after', 'created_before']

export interface ExecutionDeed extends Deed {
    /** Names of the list's filters that "all that match" can go by. */
    filters: string[]
    /** Those of the status that it is about; others stay as they are. */
    of: string[]
}

export const deeds: ExecutionDeed[] = [
    {
        action: 'retry', verb: 'Retry', done: 'run again', filters: [...shared, 'class', 'fingerprint'],
        of: ['failed', 'timeout'],
        meaning: 'Each runs once more, as a new execution of its job. It goes by dead letters: executions that ' +
            'failed for good, or timed out, and that nobody has run again or discarded.',
    },
    {
        action: 'cancel', verb: 'Cancel', done: 'cancelled', danger: true, filters: [...shared, 'tag', 'team'],
        of: ['scheduled', 'blocked', 'queued', 'running', 'retrying'],
        meaning: 'What runs is stopped, and what waits does not start. This cannot be undone.',
    },
]

/** Why this cannot be done with all that match, instead of those that were picked; null: it can. */
export function whyNotAll(deed: ExecutionDeed, filter: Query): string | null {
    const foreign = Object.keys(filter).filter(name => !deed.filters.includes(name))
    if (foreign.length > 0)
        return `${deed.verb} knows no filter by ${foreign.join(', ')}: pick rows instead`
    const status = [filter.status ?? []].flat() as string[]
    const strange = status.filter(one => !deed.of.includes(one))
    return strange.length > 0 ? `${strange.join(', ')} cannot be ${deed.done}` : null
}
