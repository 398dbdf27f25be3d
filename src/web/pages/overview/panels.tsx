// The panels of the overview: what waits and why, what comes, what is wrong, and the servers below it.
import type { Alert, Blockers, Cluster, Forecast, TickEvent } from 'openapi'
import { useResource } from '../../api/resource'
import { waitsFor } from '../../base/blockers'
import { count, duration, number } from '../../base/format'
import { exact, parse, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Strip } from '../../parts/show/strip'
import { Time } from '../../parts/show/time'
import { OPEN_ALERTS } from '../common/alerts'
import { behind } from './sentence'

export function Waits({ blockers }: { blockers: Blockers | null }) {
    const rows = Object.entries(blockers?.blockers ?? {}).sort((a, b) => b[1] - a[1])
    return (
        <section class="panel">
            <h2>What waits, and for what</h2>
            {blockers && rows.length === 0 && <p class="soft">Nothing waits.</p>}
            <ul class="list">
                {rows.map(([kind, n]) => <li key={kind}>
                    <a class="row spread" href={behind(kind)}>
                        <span>{waitsFor(kind)}</span>
                        <strong class="overview-number number">{blockers?.sampled ? 'about ' : ''}{number(n)}</strong>
                    </a>
                </li>)}
            </ul>
        </section>
    )
}

const STEPS = 48

export function NextHours() {
    const { data, problem, at, reload } = useResource<Forecast>('/schedule/forecast', { step: '30m' },
        { every: 60_000 })
    const zone = pickZone(zoneChoice.value)
    const cells = (data?.steps ?? []).slice(0, STEPS).map((step, i) => {
        const ms = parse(step.at) ?? 0
        const kept = step.skipped + step.held
        return {
            key: step.at, value: step.fires, beside: kept, href: '/jobs?sort=next_run_at', label: i % 6 === 0
                ? exact(ms, zone, { day: false, seconds: false, label: false }) : undefined,
            title: `${exact(ms, zone, { seconds: false })}: ${count(step.fires, 'run')}` +
                (kept > 0 ? `, ${number(kept)} skipped or held` : ''),
        }
    })
    const runs = cells.reduce((sum, cell) => sum + cell.value, 0)
    const said = data && runs > 0 && `${count(runs, 'run')} of ${count(data.jobs, 'scheduled job')} by ${
        exact(parse(data.until) ?? 0, zone, { seconds: false })}${data.truncated ? ', and more' : ''}`
    return (
        <section class="panel">
            <h2><a href="/timeline">The next hours</a> <span class="soft">{said}</span></h2>
            <OldData problem={problem} at={at} retry={reload} />
            {data && runs === 0 ? <p class="soft">
                No job has a schedule; <code>--cron '0 3 * * *'</code> or <code>--every 15m</code> gives it one.</p>
                : <Strip cells={cells} label="Scheduled runs by half hours" />}
        </section>
    )
}

/** The commands that its text ends with are for terminals: here one clicks. */
const withoutAdvice = (text: string) => text.replace(/[.;] [^.;]*\bbelfry .*$/s, '.')

export function Alerts() {
    const { data, problem, at, reload } = useResource<{ alerts: Alert[] }>('/alerts', { ...OPEN_ALERTS, limit: 5 },
        { every: 10_000 })
    return (
        <section class="panel">
            <h2><a href="/alerts">Open alerts</a></h2>
            <OldData problem={problem} at={at} retry={reload} />
            {data?.alerts.length === 0 && <p class="soft">None: nothing waits for somebody to look after it.</p>}
            <ul class="list">
                {data?.alerts.map(alert => <li key={alert.alert_id}>
                    <a class="row spread" href={`/alerts?alert=${alert.alert_id}`}>
                        <Status state={alert.level} /><span class="soft small"><Time at={alert.at} /></span></a>
                    <a class="overview-alert" title={alert.text} href={alert.execution_id
                        ? `/executions/${alert.execution_id}` : `/alerts?alert=${alert.alert_id}`}>
                        {withoutAdvice(alert.text)}</a>
                </li>)}
            </ul>
        </section>
    )
}

export function Machines({ tick }: { tick: TickEvent | null }) {
    const { data, problem, at, reload } = useResource<Cluster>('/cluster', {}, { every: 5000 })
    const store = tick?.store
    return (
        <section class="panel">
            <h2><a href="/cluster">Servers and store</a></h2>
            <OldData problem={problem} at={at} retry={reload} />
            <ul class="list">
                {data?.nodes.map(node => <li key={node.name} class="row spread">
                    <span><Status state={node.status} /> {node.name} <span class="soft">{node.version}</span></span>
                    <span class="soft small">{count(node.partitions, 'partition')}</span>
                </li>)}
                {tick && <li class="row spread">
                    <a href="/workers">{count(tick.workers.count, 'worker')}</a>
                    <span class="soft small">
                        {number(tick.workers.busy)} of {number(tick.workers.slots)} slots busy</span>
                </li>}
                {store && <li class="row spread">
                    <span>{count(store.commits, 'transaction')} in {duration(tick.uptime_ms)}</span>
                    <span class="soft small">{store.syncs > 0
                        ? `${duration(store.sync_ms / store.syncs)} for each write to disk` : ''}</span>
                </li>}
                {!!tick?.quarantined && <li><Status state="failed" word={`${count(tick.quarantined, 'execution')
                    } quarantined: the server's log names them`} /></li>}
            </ul>
        </section>
    )
}
