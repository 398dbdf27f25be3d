// Actions on a job, as far as one's key may: pause and resume with a way back for ten seconds, trigger
// and cancel after a question.
import { useState } from 'preact/hooks'
import type { ExecutionTriggered, Job } from 'openapi'
import { api, newKey } from '../../api/client'
import { reloadAll } from '../../api/resource'
import { may } from '../../api/session'
import { isPhone } from '../../base/choices'
import { go } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { Menu, MenuItem } from '../../parts/ask/menu'
import { toast } from '../../parts/ask/toast'
import { act, refused, unlessChanged } from '../common/act'
import { Trigger } from './trigger'
import { isOver, titleOf } from './words'

function told(made: ExecutionTriggered): void {
    toast('It runs now.', { link: { name: 'Its run', href: `/executions/${made.execution_id}` }, ms: 10_000 })
}

/** The newest step of what happened to the job. */
const newest = async ({ job_id: id }: Job) => (await api.get<Pick<Job, 'transitions'>>(`/jobs/${id}`,
    { query: { fields: 'transitions' } })).transitions.at(-1)

const hold = (job: Job, action: 'pause' | 'resume') => act(async () => {
    await api.post(`/jobs/${job.job_id}/${action}`)
    return newest(job).catch(() => undefined)
}, {
    said: action === 'pause' ? 'Paused: what runs goes on, nothing new starts.' : 'Resumed.',
    touches: [`/jobs/${job.job_id}`],
    undo: async made => {
        const now = await newest(job)
        unlessChanged(titleOf(job), made?.at ?? null, now?.at ?? null, now?.actor ?? null)
        await api.post(`/jobs/${job.job_id}/${action === 'pause' ? 'resume' : 'pause'}`)
    },
})

async function cancel(job: Job): Promise<void> {
    const runs = job.current_execution ? 'What runs or waits of it is stopped, and it' : 'It'
    const yes = await confirm({
        title: `Cancel the job ${titleOf(job)}?`, text: <p>{runs} never runs again. This cannot be undone.</p>,
        action: 'Cancel this job', danger: true,
    })
    if (!yes)
        return
    await api.delete(`/jobs/${job.job_id}`).then(() => toast('Cancelled.'), refused)
    reloadAll(`/jobs/${job.job_id}`)
}

async function trigger(job: Job, body?: { payload: unknown }): Promise<void> {
    const made = await api.post<ExecutionTriggered>(`/jobs/${job.job_id}/trigger`, body, { idempotencyKey: newKey() })
    told(made)
    reloadAll(`/jobs/${job.job_id}`)
}

async function again(job: Job): Promise<void> {
    const yes = await confirm({
        title: `Run ${titleOf(job)} again?`, text: <p>Its newest run is made once more, as a new execution.</p>,
        action: 'Run again 1 execution',
    })
    if (!yes)
        return
    await api.post<ExecutionTriggered>(`/executions/${job.last_execution_id}/retry`, undefined,
        { idempotencyKey: newKey() }).then(told, refused)
    reloadAll(`/jobs/${job.job_id}`)
}

export function Actions({ job }: { job: Job }) {
    const [asking, ask] = useState(false)
    const over = isOver(job)
    const path = `/jobs/${job.job_id}`
    const paused = job.status === 'paused'
    const all: (MenuItem & { may: boolean })[] = [
        { name: 'Trigger …', run: () => ask(true), may: !over && !paused && may('POST', '/jobs/{}/trigger') },
        {
            name: 'Run again …', run: () => void again(job),
            may: over && !!job.last_execution?.finished_at && may('POST', '/executions/{}/retry'),
        },
        { name: 'Pause', run: () => void hold(job, 'pause'), may: !over && !paused && may('POST', '/jobs/{}/pause') },
        { name: 'Resume', run: () => void hold(job, 'resume'), may: paused && may('POST', '/jobs/{}/resume') },
        { name: 'Edit', run: () => go(`${path}/edit`), may: !over && may('PATCH', '/jobs/{}') },
        { name: 'Copy to a new job', run: () => go(`/jobs/new?from=${job.job_id}`), may: may('POST', '/jobs') },
        { name: 'Cancel …', run: () => void cancel(job), danger: true, may: !over && may('DELETE', '/jobs/{}') },
    ]
    const items = all.filter(item => item.may)
    return (
        <>
            {isPhone.value ? items.length > 0 && <Menu label="Actions" items={items} end />
                : <div class="row">
                    {items.map(item => <button key={item.name} type="button" onClick={item.run}
                        class={`button${item.danger ? ' danger' : ''}`}>{item.name}</button>)}
                </div>}
            {asking && <Trigger job={job} run={body => trigger(job, body)} onClose={() => ask(false)} />}
        </>
    )
}
