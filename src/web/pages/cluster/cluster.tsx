// The servers of a cluster: who decides about what, what has happened, and what is wrong.
import type { Cluster as Whole, Diagnostics } from 'openapi'
import { useResource } from '../../api/resource'
import { duration } from '../../base/format'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Findings } from './findings'
import { Outages, Takeovers } from './past'
import { sentence } from './sentence'
import { Partitions, Servers } from './servers'

const EVERY_MS = 2000
const CHECKS_EVERY_MS = 15_000 // they look at disks and databases

function Clock({ clock }: { clock: Whole['clock'] }) {
    if (clock.jumps === 0)
        return null
    return <p>The database's clock was set {clock.jumps === 1 ? 'once' : `${clock.jumps} times`}, the last time {
        duration(Math.abs(clock.last_jump_ms))} {clock.last_jump_ms < 0 ? 'back' : 'ahead'}. Time goes on from there,
        but never back.</p>
}

export default function Cluster() {
    const cluster = useResource<Whole>('/cluster', {}, { every: EVERY_MS })
    const checks = useResource<Diagnostics>('/diagnostics', {}, { every: CHECKS_EVERY_MS })
    const { data, problem, at, reload } = cluster
    const said = data && sentence(data, checks.data?.checks ?? [])
    const isOld = problem !== null
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Cluster</h1>
            {said && <p class={`lead${said.isWrong ? ' hue-bad' : ''}${isOld ? ' is-old' : ''}`}>{said.text}</p>}
            <OldData problem={problem} at={at} retry={reload} />
            {data && <Servers cluster={data} isOld={isOld} />}
            {data && <Clock clock={data.clock} />}
            <Findings read={checks} />
            {data && <Outages outages={data.outages} isOld={isOld} />}
            {data && data.clustered && <Takeovers takeovers={data.takeovers} isOld={isOld} />}
            {data && <Partitions partitions={data.partitions} isOld={isOld} />}
            {data && !data.clustered && <Empty title="Another server would go on if this one died."
                command="belfry server --store postgres://belfry@db/belfry --node b">
                Servers that share a PostgreSQL database share the work and take over from each other. Each is then
                listed here.
            </Empty>}
        </div>
    )
}
