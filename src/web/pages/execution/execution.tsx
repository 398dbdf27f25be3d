// One execution: how it is and why, what happened to it, what it printed, its attempts, and its data.
import './execution.css'
import { useEffect, useState } from 'preact/hooks'
import type { Execution, Explanation, JobSummary } from 'openapi'
import { useResource } from '../../api/resource'
import { isMerelyTime } from '../../base/blockers'
import { part } from '../../base/query'
import { now } from '../../live/live'
import { Tabs } from '../../parts/list/tabs'
import { Empty } from '../../parts/show/empty'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { useSaid } from '../../parts/show/said'
import { Status } from '../../parts/show/status'
import { useTitle } from '../../base/title'
import type { PageProps } from '../../base/router'
import { Named } from '../common/named'
import { zoneOf } from '../common/schedule'
import { brief } from '../common/why'
import { isOver, isWaiting } from '../executions/columns'
import { Actions } from './actions'
import { Attempts } from './attempts'
import { Compare } from './compare'
import { Data } from './data'
import { Facts } from './facts'
import { Failure } from './failure'
import { Output } from './output'
import { sentence } from './sentence'
import { Trail } from './trail'
import { Waits } from './waits'

const EVERY_MS = 5000 // besides events, which tell most
const WAITS_MS = 3000

type JobPart = Pick<JobSummary, 'job_id' | 'name' | 'status' | 'schedule'>

function Sentence({ one, blocker }: { one: Execution, blocker: string | null }) {
    const { hue } = sentence(one, 0, blocker)
    const text = useSaid(() => sentence(one, now.value, blocker).text, [one, blocker])
    return <p class={`execution-sentence${hue ? ` hue-${hue}` : ''}`}><Named text={text} /></p>
}

function Story({ one, job, blocker }: { one: Execution, job: JobPart | null, blocker: string | null }) {
    const last = one.attempts[one.attempts.length - 1]
    const zone = zoneOf(job)
    return (
        <>
            {last?.error_class && one.status !== 'completed' &&
                <Failure attempt={last} executionId={one.execution_id} />}
            <div class="panel"><Facts one={one} zone={zone} /></div>
            <Trail execution={one} blocker={blocker} />
        </>
    )
}

export default function ExecutionPage({ params }: PageProps) {
    const { id, tab = '' } = params
    // The stream refuses an execution that does not exist, and the address may name any, or a part of an id.
    const [heard, hear] = useState<string | null>(null)
    const known = useResource<Execution>(`/executions/${part(id)}`, {},
        { on: heard ? { execution: [heard] } : undefined, every: EVERY_MS })
    const one = known.data
    useEffect(() => hear(one?.execution_id ?? null), [one?.execution_id])
    const waits = one !== null && (isWaiting(one.status) || (one.status === 'running' && one.stopping))
    const why = useResource<Explanation>(waits ? `/executions/${part(id)}/explain` : null, {}, { every: WAITS_MS })
    const job = useResource<JobPart>(one && `/jobs/${part(one.job_id)}`, { fields: 'job_id,name,status,schedule' })
    const name = job.data?.name ?? one?.job_name ?? one?.job_id ?? id
    useTitle(one ? `${name}, ${one.status}` : 'Execution')

    if (!one)
        return <div class="stack">
            <h1 tabIndex={-1}>Execution <code>{id}</code></h1>
            {known.problem?.status === 404
                ? <Empty title={known.problem.detail} command="belfry executions">
                    Executions are deleted a while after they have ended. <a href="/executions">All executions</a>
                </Empty>
                : <OldData problem={known.problem} at={known.at} retry={known.reload} />}
        </div>
    const first = waits ? why.data?.blockers.find(blocker => !isMerelyTime(blocker.kind)) : null
    const blocker = first ? brief(first.text) : null
    const path = `/executions/${part(id)}`
    const tabs = [
        { key: '', name: 'What happened', href: path },
        { key: 'output', name: 'Output', href: `${path}/output` },
        { key: 'attempts', name: 'Attempts', href: `${path}/attempts`, count: one.attempts.length },
        { key: 'data', name: 'Payload and result', href: `${path}/data` },
        { key: 'compare', name: 'Compare', href: `${path}/compare` },
    ]
    return (
        <div class={`stack execution${known.problem ? ' is-old' : ''}`}>
            <div class="row spread">
                <div class="execution-name">
                    <h1 tabIndex={-1}><a href={`/jobs/${one.job_id}`}><bdi>{name}</bdi></a></h1>
                    <span class="row">
                        <Status state={one.status} word={one.stopping ? 'stopping' : undefined} />
                        <Id id={one.execution_id} />
                    </span>
                </div>
                <Actions execution={one} name={name} />
            </div>
            <Sentence one={one} blocker={blocker} />
            <OldData problem={known.problem} at={known.at} retry={known.reload} />
            {!isOver(one.status) && <Waits why={why} />}
            <Tabs tabs={tabs} current={tab} label="Parts of this execution" />
            {tab === 'output' ? <Output execution={one} />
                : tab === 'attempts' ? <Attempts execution={one} />
                    : tab === 'data' ? <Data execution={one} />
                        : tab === 'compare' ? <Compare one={one} />
                            : <Story one={one} job={job.data} blocker={blocker} />}
        </div>
    )
}
