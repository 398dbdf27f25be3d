// The head above all tabs of a job: its name, how it is, what is next, why it waits, and what can be done.
import type { Explanation, Job } from 'openapi'
import { useResource } from '../../api/resource'
import { duration } from '../../base/format'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { Named } from '../common/named'
import { Actions } from './actions'
import { zoneOf } from '../common/schedule'
import { recurs, titleOf } from './words'

const WAITS = ['waiting', 'blocked', 'retrying']

function LastRun({ job }: { job: Job }) {
    const last = job.last_execution
    if (!last)
        return <>It has not run yet. </>
    const href = `/executions/${last.execution_id}`
    if (!last.finished_at && !last.started_at)
        return <>Its <a href={href}>run</a> waits since <Time at={last.due_at ?? last.created_at} />. </>
    if (!last.finished_at)
        return <>Its <a href={href}>newest run</a> began <Time at={last.started_at} />. </>
    return (
        <>
            The last run <a href={href}><Status state={last.status} /></a> <Time at={last.finished_at} />
            {last.duration_ms !== null && <> after {duration(last.duration_ms)}</>}
            {last.error && <>: <span class="soft">{last.error}</span></>}.{' '}
        </>
    )
}

/** The first of what it waits for; a click opens all of it, with what lifts each. */
function Why({ job }: { job: Job }) {
    const why = useResource<Explanation>(`/jobs/${job.job_id}/explain`, {}, { every: 3000 }).data
    if (!why || why.blockers.length === 0)
        return null
    return (
        <details>
            <summary><Named text={why.blockers[0].text} />
                {why.blockers.length > 1 && <span class="soft"> and {why.blockers.length - 1} more</span>}</summary>
            <ul class="job-list">{why.blockers.map((blocker, i) => <li key={i}><Named text={blocker.text} /></li>)}</ul>
        </details>
    )
}

export function Head({ job }: { job: Job }) {
    const zone = zoneOf(job)
    return (
        <header class="stack">
            <div class="row spread">
                <div class="row">
                    <h1 tabIndex={-1} class="job-name"><bdi>{titleOf(job)}</bdi></h1>
                    <Status state={job.phase} />
                    <Id id={job.job_id} />
                </div>
                <Actions job={job} />
            </div>
            <p class="job-said">
                <span class="job-schedule">{job.schedule_text ?? 'once, right away'}.</span>{' '}
                {job.status === 'paused' ? 'Paused: nothing starts until it is resumed. '
                    : job.next_run_at && <>Next run <strong><Time at={job.next_run_at} zone={zone} /></strong>. </>}
                <LastRun job={job} />
                {job.finished_at && (recurs(job) || job.status === 'cancelled') &&
                    <>It is {job.status} since <Time at={job.finished_at} />.</>}
            </p>
            {WAITS.includes(job.phase) && <Why job={job} />}
        </header>
    )
}
