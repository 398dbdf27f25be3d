// One job: how it stands and what is next, what can be done with it, and behind tabs all that is known of it.
import './job.css'
import { useEffect, useState } from 'preact/hooks'
import type { Job } from 'openapi'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { part } from '../../base/query'
import { Tabs } from '../../parts/list/tabs'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { useTitle } from '../../base/title'
import { Definition } from './definition'
import { Edit } from './edit'
import { Graph } from './graph'
import { Head } from './head'
import { Runs } from './runs'
import { Summary } from './summary'
import { Versions } from './versions'
import { isOver, titleOf } from './words'

const EVERY_MS = 5000

function tabsOf(job: Job) {
    const path = `/jobs/${job.job_id}`
    const waits = job.depends_on.length + job.dependants.length
    return [
        { key: '', name: 'Overview', href: path },
        { key: 'executions', name: 'Executions', href: `${path}/executions` },
        { key: 'graph', name: 'Depends', href: `${path}/graph`,
            count: waits > 0 && !job.more_dependants ? waits : undefined },
        { key: 'versions', name: 'Versions', href: `${path}/versions` },
        { key: 'definition', name: 'Definition', href: `${path}/definition` },
        ...(isOver(job) || !may('PATCH', '/jobs/{}') ? [] : [{ key: 'edit', name: 'Edit', href: `${path}/edit` }]),
        ...(job.last_execution
            ? [{ key: 'output', name: 'Newest output', href: `/executions/${job.last_execution_id}/output` }] : []),
    ]
}

function Body({ job, tab, reload }: { job: Job, tab: string, reload: () => Promise<void> }) {
    switch (tab) {
    case 'executions': return <Runs job={job} />
    case 'graph': return <Graph job={job} />
    case 'versions': return <Versions job={job} />
    case 'definition': return <Definition job={job} />
    case 'edit': return <Edit key={job.job_id} job={job} reload={reload} />
    default: return <Summary job={job} />
    }
}

export default function JobPage({ params }: { params: Record<string, string> }) {
    const { id, tab = '' } = params
    const path = `/jobs/${part(id)}`
    // The stream refuses a job that does not exist, and the address may name any.
    const [heard, hear] = useState<string | null>(null)
    const known = useResource<Job>(path, {}, { every: EVERY_MS, on: heard ? { job: [heard] } : undefined })
    const job = known.data
    useEffect(() => hear(job?.job_id ?? null), [job?.job_id])
    useTitle(job ? titleOf(job) : id)
    if (!job)
        return (
            <div class="stack">
                <h1 tabIndex={-1} class="job-name">{id}</h1>
                {known.problem?.status === 404
                    ? <Empty title={known.problem.detail} command="belfry jobs">
                        Jobs that have ended are deleted after a while. <a href="/jobs">All jobs</a>
                    </Empty>
                    : <OldData problem={known.problem} at={null} retry={known.reload} />}
            </div>
        )
    return (
        <div class="stack">
            <Head job={job} />
            <OldData problem={known.problem} at={known.at} retry={known.reload} />
            <Tabs tabs={tabsOf(job)} current={tab} label="Parts of this job" />
            <Body job={job} tab={tab} reload={known.reload} />
        </div>
    )
}
