// One queue: how it went over the last hour, what waits in it and why, and what it is limited to.
import './queue.css'
import type { Queue as QueueDoc } from 'openapi'
import { api } from '../../api/client'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { part, printQuery } from '../../base/query'
import { go } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { Menu } from '../../parts/ask/menu'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import type { PageProps } from '../../base/router'
import { useTitle } from '../../base/title'
import { act } from '../common/act'
import { AgeChart, DepthChart, EndsChart, LagChart } from '../common/queuecharts'
import { pauseQueue, resumeQueue } from '../common/queuedeeds'
import { Figures } from './figures'
import { Limit } from './limit'
import { NowHere } from './now'
import { Waits } from './waits'

const EVERY_MS = 3000

async function forget(queue: QueueDoc): Promise<void> {
    const yes = await confirm({
        title: `Delete the queue ${queue.name}?`, action: `Delete ${queue.name}`, danger: true,
        text: <p>Its pause and its limit are forgotten. What ran in it stays on record. A job that names it makes it
            anew.</p>,
    })
    if (yes && await act(() => api.delete(`/queues/${part(queue.name)}`),
        { said: `The queue ${queue.name} is gone.`, touches: ['/queues'] }))
        go('/queues', { replace: true })
}

export default function Queue({ params }: PageProps) {
    const { name } = params
    useTitle(name)
    const { data, problem, at, reload, isPrevious } = useResource<QueueDoc>(`/queues/${part(name)}`, {},
        { every: EVERY_MS, on: { queue: [name] } })
    return (
        <div class={`stack queue${isPrevious ? ' is-old' : ''}`}>
            <div class="row spread">
                <span class="row">
                    <h1 tabIndex={-1}><span class="soft">Queue</span> {name}</h1>
                    {data && <Status state={data.paused ? 'paused' : data.running > 0 ? 'running' : 'idle'} />}
                </span>
                {data && <Actions queue={data} />}
            </div>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {data && <>
                <p>{sentenceOf(data)} {data.paused && <>Paused <Time at={data.paused_at} /> by {
                    data.paused_by}: what runs goes on, nothing new starts.</>} <a href={
                    `/timeline${printQuery({ queue: name })}`}>Its timeline</a></p>
                <Figures queue={data} />
                <div class="grid queue-charts">
                    <DepthChart queue={name} /><AgeChart queue={name} />
                    <LagChart queue={name} /><EndsChart queue={name} />
                </div>
                <div class="grid">
                    <Waits queue={name} />
                    <Limit key={data.concurrency} queue={data} />
                </div>
                <NowHere queue={name} />
            </>}
        </div>
    )
}

function sentenceOf({ queued, running, concurrency, depth }: QueueDoc): string {
    const wait = queued === 0 ? 'Nothing is ready that does not run'
        : `${count(queued, 'execution')} ${queued === 1 ? 'is' : 'are'} ready and ${queued === 1 ? 'waits' : 'wait'}`
    const later = depth > queued ? `, ${count(depth - queued, 'other')} ${
        depth - queued === 1 ? 'waits for its' : 'wait for their'} time or for others` : ''
    const most = concurrency === null ? '' : ` of at most ${concurrency}`
    return `${wait}${later}; ${running}${most} ${running === 1 ? 'runs' : 'run'}.`
}

function Actions({ queue }: { queue: QueueDoc }) {
    const canDelete = may('DELETE', '/queues/{}')
    return (
        <span class="row">
            {queue.paused
                ? may('POST', '/queues/{}/resume') && <button class="button main" type="button"
                    onClick={() => void resumeQueue(queue.name)}>Resume</button>
                : may('POST', '/queues/{}/pause') && <button class="button" type="button"
                    onClick={() => void pauseQueue(queue.name)}>Pause</button>}
            {canDelete && <Menu label="More" end items={[
                { name: 'Delete …', danger: true, run: () => void forget(queue) },
            ]} />}
        </span>
    )
}
