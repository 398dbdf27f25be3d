// How long the last runs took, against what is usual and what the SLA allows, and how often it succeeds.
import './durations.css'
import type { ExecutionList, Job, SlaCompliance, SuccessReport } from 'openapi'
import { useResource } from '../../api/resource'
import { count, duration, percent } from '../../base/format'
import { parseDuration } from '../../base/duration'
import { state } from '../../base/states'
import { exact, parse, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { OldData } from '../../parts/show/problem'
import { Shape } from '../../parts/show/status'
import { zoneOf } from '../common/schedule'

const RUNS = 60
const EVERY_MS = 10_000
/** A limit so far above all runs would make them flat: it is told, not drawn. */
const BEYOND = 3

interface Limit { name: string, ms: number, hue: string }

function limitsOf(job: Job, report: SuccessReport | null): Limit[] {
    const sla = job.sla as { expected?: string, max?: string } | undefined
    const found: [string, number | null, string][] = [
        ['half within', report?.p50_duration_ms ?? null, 'busy'],
        ['95 % within', report?.p95_duration_ms ?? null, 'hold'],
        ['SLA expected', parseDuration(sla?.expected), 'retry'],
        ['SLA max', parseDuration(sla?.max), 'bad'],
    ]
    return found.flatMap(([name, ms, hue]) => ms === null ? [] : [{ name, ms, hue }])
}

function Bars({ job, list, limits }: { job: Job, list: ExecutionList, limits: Limit[] }) {
    const runs = list.executions.filter(one => one.duration_ms !== null).reverse()
    const longest = Math.max(1, ...runs.map(one => one.duration_ms!))
    const drawn = limits.filter(limit => limit.ms <= BEYOND * longest)
    const top = Math.max(longest, ...drawn.map(limit => limit.ms)) * 1.05
    const zone = pickZone(zoneChoice.value, zoneOf(job))
    return (
        <>
            <p class="row small">
                {limits.map(limit => <span key={limit.name}>
                    <i class="durations-key" style={{ borderColor: `var(--${limit.hue})` }} /> {limit.name}{' '}
                    <b class="number">{duration(limit.ms)}</b>
                    {!drawn.includes(limit) && <span class="soft"> (far above)</span>}
                </span>)}
                <span class="soft">from 0 to {duration(top)}; the newest at the right</span>
            </p>
            <div class="durations" role="group" aria-label={`How long the last ${count(runs.length, 'run')} took`}>
                {drawn.map(limit => <i key={limit.name} class="durations-line"
                    style={{ bottom: `${limit.ms / top * 100}%`, borderColor: `var(--${limit.hue})` }} />)}
                {runs.map(one => {
                    const { hue, shape, word } = state(one.status)
                    const title = `${exact(parse(one.started_at) ?? 0, zone)}: ${word}, ${duration(one.duration_ms!)}`
                    return <a key={one.execution_id} class={`durations-bar hue-${hue}`} title={title}
                        aria-label={title} href={`/executions/${one.execution_id}`}>
                        {one.status !== 'completed' && <Shape shape={shape} />}
                        <span style={{ height: `max(2px, ${one.duration_ms! / top * 100}%)` }} />
                    </a>
                })}
            </div>
        </>
    )
}

function rates(report: SuccessReport | null, sla: SlaCompliance | null): string {
    if (!report || report.rate === null)
        return 'nothing has ended in the last 30 days'
    return `${percent(report.rate)} of ${count(report.total, 'run')} in 30 days succeeded` +
        (sla && sla.rate !== null ? `; ${percent(sla.rate)} met the SLA` : '')
}

export function Durations({ job }: { job: Job }) {
    const path = `/jobs/${job.job_id}`
    const list = useResource<ExecutionList>(`${path}/executions`, {
        limit: RUNS, status: ['completed', 'failed', 'timeout'], fields: 'execution_id,status,started_at,duration_ms',
    }, { every: EVERY_MS, on: { job: [job.job_id] } })
    const report = useResource<SuccessReport>(`${path}/successes`, {}, { every: EVERY_MS })
    const sla = useResource<SlaCompliance>(job.sla ? `${path}/sla-compliance` : null, {}, { every: EVERY_MS })
    return (
        <section class="panel">
            <h2>Durations <a class="soft" href={`${path}/executions`}>{rates(report.data, sla.data)}</a></h2>
            <OldData problem={list.problem ?? report.problem} at={list.at} retry={list.reload} />
            {list.data && (list.data.executions.length > 0
                ? <Bars job={job} list={list.data} limits={limitsOf(job, report.data)} />
                : <p class="soft">No run of it has ended yet.</p>)}
        </section>
    )
}
