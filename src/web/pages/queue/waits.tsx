// Reasons that keep the executions of a queue from starting, the most first.
import type { Blockers } from 'openapi'
import { useResource } from '../../api/resource'
import { waitsFor } from '../../base/blockers'
import { number } from '../../base/format'
import { printQuery } from '../../base/query'
import { OldData } from '../../parts/show/problem'

const EVERY_MS = 3000
const WAITING = ['scheduled', 'blocked', 'queued', 'retrying']

export function Waits({ queue }: { queue: string }) {
    const { data, problem, at, reload } = useResource<Blockers>('/stats/blockers', { queue }, { every: EVERY_MS })
    const rows = Object.entries(data?.blockers ?? {}).sort((a, b) => b[1] - a[1])
    const href = '/executions' + printQuery({ queue, status: WAITING })
    return (
        <section class="panel">
            <h2>What waits here, and for what</h2>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {data && rows.length === 0 && <p class="soft">Nothing waits.</p>}
            <ul class="list">
                {rows.map(([kind, n]) => <li key={kind}>
                    <a class="row spread" href={href}>
                        <span>{waitsFor(kind)}</span>
                        <strong class="number">{data!.sampled ? 'about ' : ''}{number(n)}</strong>
                    </a>
                </li>)}
            </ul>
        </section>
    )
}
