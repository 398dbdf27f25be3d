// The numbers of this moment, each a link to the list behind it.
import './numbers.css'
import type { TickEvent } from 'openapi'
import { compact, number } from '../../base/format'
import { Status } from '../../parts/show/status'
import type { Failures } from '../common/failures'

function Figure({ name, value, href, state, more }: {
    name: string, value: number, href: string, state?: string, more?: string,
}) {
    return (
        <a class="figure" href={href} title={number(value)}>
            <span class="figure-value number">{compact(value)}</span>
            <span class="figure-name">{state && value > 0 ? <Status state={state} word={name} /> : name}</span>
            {more && <span class="soft small">{more}</span>}
        </a>
    )
}

export function Numbers({ tick, failed }: { tick: TickEvent, failed: Failures }) {
    const { executions, jobs, workers } = tick
    return (
        <div class="figures">
            <Figure name="running" value={executions.running} state="running" href="/executions?status=running"
                more={`${number(workers.busy)} of ${number(workers.slots)} slots`} />
            <Figure name="waiting" value={executions.queued + executions.blocked} state="waiting"
                href="/executions?status=queued&status=blocked" />
            <Figure name="retrying" value={executions.retrying} state="retrying" href="/executions?status=retrying" />
            <Figure name="failed" value={failed.count ?? 0} state="failed" href={failed.href}
                more={failed.when + (failed.usualPerHour === null ? '' : `, usually ${number(failed.usualPerHour)}`)} />
            <Figure name="dead letters" value={tick.dead_letters} state="failed" href="/dead-letters" />
            <Figure name="active jobs" value={jobs.active} href="/jobs?status=active"
                more={jobs.paused > 0 ? `${number(jobs.paused)} paused` : undefined} />
        </div>
    )
}
