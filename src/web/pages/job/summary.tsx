// The first tab of a job: its schedule, what became of its slots, how long it takes and how often it succeeds.
import type { Job } from 'openapi'
import { commandText } from '../../base/format'
import { printQuery } from '../../base/query'
import { parse } from '../../base/when'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { Durations } from './durations'
import { Next } from './next'
import { PastSlots } from './pastslots'
import { recurs } from './words'

const SHOWN = 8

function Failure({ job }: { job: Job }) {
    const last = job.last_execution
    if (!last?.error_tail || !['failed', 'timeout', 'retrying'].includes(last.status))
        return null
    return (
        <section class="panel">
            <h2><Status state={last.status} /> {last.error_class?.replace(/_/g, ' ')}{' '}
                <a href={`/executions/${last.execution_id}/output`}>the whole output</a></h2>
            <pre class="job-tail mono" tabIndex={0} aria-label="The last lines of its error output">
                {last.error_tail}</pre>
        </section>
    )
}

function Happened({ job }: { job: Job }) {
    const newest = job.transitions.slice(-SHOWN).reverse()
    return (
        <section class="panel">
            <h2>What was done with it</h2>
            <ul class="job-list">
                {newest.map((one, i) => <li key={i} class="row spread">
                    <span>{one.event} <span class="soft">by {one.actor}{one.reason && `: ${one.reason}`}</span></span>
                    <span class="soft small"><Time at={one.at} /></span>
                </li>)}
            </ul>
            {job.transitions.length > SHOWN &&
                <p class="soft small">the newest {SHOWN} of {job.transitions.length}</p>}
        </section>
    )
}

/** Where it belongs; each leads to the jobs that share it. */
function Facts({ job }: { job: Job }) {
    const tags = Object.entries((job.tags ?? {}) as Record<string, string>)
    return (
        <p class="row soft">
            <span>queue <a href={`/jobs${printQuery({ queue: job.queue })}`}>{job.queue}</a></span>
            <span>priority {job.priority}</span>
            <span>owner <a href={`/jobs${printQuery({ owner: job.owner })}`}>{job.owner}</a></span>
            {job.team && <span>team <a href={`/jobs${printQuery({ team: job.team })}`}>{job.team}</a></span>}
            {job.timeout && <span>timeout {job.timeout}</span>}
            {tags.map(([key, value]) => <a key={key} class="job-tag"
                href={`/jobs${printQuery({ tag: `${key}:${value}` })}`}>{key}: {value}</a>)}
        </p>
    )
}

/** What it runs. */
const workOf = (job: Job) => job.handler ? `handler ${job.handler}` : commandText(job.command)

/** It is run elsewhere. */
function Pings({ job }: { job: Job }) {
    const missed = job.ping_due_at !== null && (parse(job.ping_due_at) ?? 0) < Date.now()
    return (
        <p class="row">
            <span><span class="soft">expects</span> {job.schedule_text}</span>
            {job.ping_due_at && <span>
                {missed ? <Status state="failed" word="missed since" /> : 'the next one by'}{' '}
                <Time at={job.ping_due_at} exactly />
            </span>}
        </p>
    )
}

export function Summary({ job }: { job: Job }) {
    return (
        <div class="stack">
            {job.description && <p>{job.description}</p>}
            {job.expect ? <Pings job={job} />
                : <p><span class="soft">runs</span> <code class="job-work">{workOf(job)}</code></p>}
            <Facts job={job} />
            {job.warnings.map(warning => <p key={warning.code} class="old-data">{warning.text}</p>)}
            <Failure job={job} />
            {recurs(job) && <PastSlots job={job} />}
            <Durations job={job} />
            <div class="grid">
                {(recurs(job) || job.next_run_at) && <Next job={job} />}
                <Happened job={job} />
            </div>
        </div>
    )
}
