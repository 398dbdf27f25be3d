// Facts about an execution, with what it has used.
import './facts.css'
import type { ComponentChildren } from 'preact'
import type { Execution } from 'openapi'
import { bytes, duration } from '../../base/format'
import { printQuery } from '../../base/query'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'

const origins: Record<string, string> = {
    once: 'its job was submitted for it', slot: "a slot of its job's schedule", request: 'somebody asked for it',
    ping: 'it took place elsewhere, and a ping tells of it',
}

function Fact({ name, children }: { name: string, children: ComponentChildren }) {
    return <div class="fact"><dt class="soft">{name}</dt><dd>{children}</dd></div>
}

export function Facts({ one, zone }: { one: Execution, zone: string | null }) {
    const used = one.attempts.reduce((sum, attempt) => ({
        cpu: sum.cpu + attempt.cpu_ms, memory: Math.max(sum.memory, attempt.peak_memory_bytes),
        output: sum.output + attempt.output_bytes,
    }), { cpu: 0, memory: 0, output: 0 })
    return (
        <dl class="facts">
            <Fact name="Queue">
                <a href={`/queues/${encodeURIComponent(one.queue)}`}>{one.queue}</a>, priority {one.priority}
            </Fact>
            <Fact name="Why it exists">{origins[one.origin] ?? one.origin}</Fact>
            {one.origin === 'slot' && <Fact name="Slot"><Time at={one.slot} zone={zone} exactly /></Fact>}
            {one.worker_id && <Fact name="Worker"><Id id={one.worker_id} href={`/workers/${one.worker_id}`} /></Fact>}
            {one.started_at && <Fact name="Began"><Time at={one.started_at} zone={zone} /></Fact>}
            {(one.duration_ms !== null || one.status === 'running') && <Fact name="Took">
                <Duration ms={one.duration_ms} since={one.status === 'running' ? one.started_at : null} /></Fact>}
            {one.attempts.length > 0 && <>
                <Fact name="Processor time">{duration(used.cpu)}</Fact>
                <Fact name="Memory at most">{bytes(used.memory)}</Fact>
                <Fact name="Output"><a href={`/executions/${one.execution_id}/output`}>{bytes(used.output)}</a></Fact>
            </>}
            {one.retry_of && <Fact name="Repeats"><Id id={one.retry_of} href={`/executions/${one.retry_of}`} /></Fact>}
            {one.start_late && <Fact name={one.origin === 'ping' ? 'Ping' : 'Start'}>
                <Status state="expired" word="later than it should" /></Fact>}
            {one.sla && <Fact name="SLA"><a href={`/executions${printQuery({ job: one.job_id })}`}>
                <Status state={one.sla.broken ? 'failed' : one.sla.exceeded_expected ? 'warning' : 'completed'}
                    word={one.sla.broken ? 'broken' : one.sla.exceeded_expected ? 'longer than expected' : 'kept'} />
            </a></Fact>}
            {one.idempotency_key !== one.execution_id &&
                <Fact name="Idempotency key"><code>{one.idempotency_key}</code></Fact>}
        </dl>
    )
}
