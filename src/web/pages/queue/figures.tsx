// The numbers of a queue, each a link to the list behind it.
import type { DeadLetterList, Queue } from 'openapi'
import { useResource } from '../../api/resource'
import { compact, number } from '../../base/format'
import { printQuery, Query } from '../../base/query'
import { tick } from '../../live/live'

const EVERY_MS = 5000

/** Ticks tell it of fifty queues; of others it is asked for. */
function useDead(name: string): number | undefined {
    const told = tick.value?.queues.find(one => one.queue === name)?.dead_letters
    const { data } = useResource<DeadLetterList>(tick.value && told === undefined ? '/dead-letters' : null,
        { queue: name, limit: 1, count: true }, { every: EVERY_MS })
    return told ?? data?.total
}

export function Figures({ queue }: { queue: Queue }) {
    const { name } = queue
    const dead = useDead(name)
    const list = (status: string | string[], more: Query = {}) =>
        '/executions' + printQuery({ queue: name, status, ...more })
    const rows: [string, number | string, string][] = [
        ['ready', queue.queued, list('queued')],
        ['scheduled', queue.scheduled, list('scheduled')],
        ['retrying', queue.retrying, list('retrying')],
        ['running', queue.running, list('running')],
        ['dead letters', dead ?? '…', '/dead-letters' + printQuery({ queue: name })],
        ['jobs', 'list', '/jobs' + printQuery({ queue: name })],
    ]
    return (
        <div class="queue-figures">
            {rows.map(([word, value, href]) => (
                <a key={word} class="queue-figure" href={href}
                    title={typeof value === 'number' ? number(value) : undefined}>
                    <b class="number">{typeof value === 'number' ? compact(value) : value}</b>
                    <span>{word}</span>
                </a>
            ))}
        </div>
    )
}
