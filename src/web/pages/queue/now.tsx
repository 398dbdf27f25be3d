// The runs of a queue: those under way, those that come next, and those that ended last.
import type { ExecutionSummary } from 'openapi'
import { useResource } from '../../api/resource'
import { printQuery } from '../../base/query'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'

const FIELDS = 'execution_id,job_id,job_name,status,started_at,finished_at,duration_ms,created_at,error'
const SHOWN = 8
const EVERY_MS = 3000

function List({ title, queue, status, none }: { title: string, queue: string, status: string[], none: string }) {
    const { data, problem, at, reload } = useResource<{ executions: ExecutionSummary[] }>('/executions',
        { queue, status, limit: SHOWN, fields: FIELDS }, { every: EVERY_MS, on: { queue: [queue] } })
    return (
        <section class="panel">
            <h2><a href={'/executions' + printQuery({ queue, status })}>{title}</a></h2>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {data?.executions.length === 0 && <p class="soft">{none}</p>}
            <ul class="list">
                {data?.executions.map(run => <li key={run.execution_id} class="row spread">
                    <span class="row"><Status state={run.status} />
                        <a href={`/executions/${run.execution_id}`}>{run.job_name ?? <Id id={run.execution_id} />}</a>
                    </span>
                    <span class="soft small">
                        {run.status === 'running' ? <Duration since={run.started_at} />
                            : <Time at={run.finished_at ?? run.created_at} />}
                    </span>
                </li>)}
            </ul>
        </section>
    )
}

export function NowHere({ queue }: { queue: string }) {
    return (
        <div class="grid">
            <List title="Runs" queue={queue} status={['running']} none="Nothing runs." />
            <List title="Waits" queue={queue} status={['queued', 'retrying']} none="Nothing is ready." />
            <List title="Failed" queue={queue} status={['failed', 'timeout']} none="Nothing has failed." />
        </div>
    )
}
