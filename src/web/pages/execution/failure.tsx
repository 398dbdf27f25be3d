// The failure of an execution: the error, its class, the last lines it wrote, and others that failed in the same way.
import './failure.css'
import type { Attempt, ExecutionSummary } from 'openapi'
import { useResource } from '../../api/resource'
import { number } from '../../base/format'
import { printQuery } from '../../base/query'
import { Code } from '../../parts/show/code'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'

/** What a class means, and whether it is tried again (docs/protocol.md, "Failures"). */
const meanings: Record<string, string> = {
    timeout: 'it took too long, or says that something it called did',
    out_of_memory: 'it was killed for want of memory',
    permission_error: 'it may not be executed; trying again does not help',
    network_error: 'something could not be reached; it may pass',
    not_found: 'the program or its directory is not there; trying again does not help',
    disk_error: 'a disk was full, or failed',
    killed: 'a signal ended it',
    crashed: 'it crashed',
    lost_worker: 'its worker was not heard of any more',
    user_error: 'the job itself says that trying again does not help',
    unknown: 'it is of none of the kinds that have a name',
}

interface Others { executions: ExecutionSummary[], next_cursor: string | null }

function OtherFailures({ fingerprint, own }: { fingerprint: string, own: string }) {
    const search = printQuery({ fingerprint })
    const { data } = useResource<Others>('/executions', {
        fingerprint, limit: 6, fields: 'execution_id,job_name,job_id,status,finished_at,started_at',
    })
    const others = data?.executions.filter(one => one.execution_id !== own).slice(0, 5) ?? []
    if (!data)
        return null
    if (others.length === 0)
        return <p class="soft">No other execution has failed in this way.</p>
    return (
        <>
            <h3>Others that failed in this way</h3>
            <ul class="failure-others">
                {others.map(one => <li key={one.execution_id} class="row spread">
                    <span><Status state={one.status} /> <a href={`/executions/${one.execution_id}`}>
                        <bdi>{one.job_name ?? one.job_id}</bdi></a></span>
                    <span class="soft small"><Time at={one.finished_at ?? one.started_at} /></span>
                </li>)}
            </ul>
            <a href={`/executions${search}`}>
                {data.next_cursor ? `All with the fingerprint ${fingerprint}` : `All ${number(others.length + 1)}`}</a>
        </>
    )
}

export function Failure({ attempt, executionId }: { attempt: Attempt, executionId: string }) {
    const { error_class: kind, fingerprint, stack_trace: trace, error_tail: tail } = attempt
    return (
        <section class="panel failure" aria-label="What went wrong">
            <h2>What went wrong in attempt {attempt.attempt}</h2>
            <p><strong class="failure-error">{attempt.error}</strong></p>
            {kind && <p class="soft">
                <a href={`/executions${printQuery({ class: kind })}`}><code>{kind}</code></a>: {meanings[kind] ?? kind}
            </p>}
            {trace ? <Code text={trace} label="stack trace" /> : tail && <Code text={tail} label="end of stderr" />}
            <p><a href={`/executions/${executionId}/output?attempt=${attempt.attempt}`}>All of its output</a>{' '}
                · <a href={`/executions/${executionId}/compare`}>Compare with the last good run</a></p>
            {fingerprint && <div class="stack failure-kind">
                <p class="soft small">Fingerprint <Id id={fingerprint} />
                    {attempt.fingerprint_text && <> of “<bdi>{attempt.fingerprint_text}</bdi>”</>}</p>
                <OtherFailures fingerprint={fingerprint} own={executionId} />
            </div>}
        </section>
    )
}
