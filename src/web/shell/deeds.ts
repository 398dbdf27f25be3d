// What the search can do with a job. What cannot be taken back asks first.
import { api, newKey } from '../api/client'
import { problemOf } from '../api/problem'
import { reloadAll } from '../api/resource'
import { may } from '../api/session'
import { part } from '../base/query'
import { confirm } from '../parts/ask/confirm'
import { toast } from '../parts/ask/toast'

export interface Target { id: string, name: string }
export interface JobDeed { word: string, verb: string, run: (job: Target) => Promise<void> }

async function tried(work: () => Promise<void>): Promise<void> {
    try {
        await work()
    } catch (why) {
        const { detail, requestId } = problemOf(why)
        toast(`${detail}${requestId ? ` (request ${requestId})` : ''}`, { kind: 'bad' })
    }
    reloadAll('/jobs')
}

const post = <T>(job: Target, what: string, key?: string) =>
    api.post<T>(`/jobs/${part(job.id)}/${what}`, undefined, { idempotencyKey: key })

/** One way and back: `undo` is offered for ten seconds. */
const turn = (what: string, said: string, back: string) => (job: Target) => tried(async () => {
    await post(job, what)
    toast(`${job.name} is ${said}.`, {
        undo: () => void tried(async () => {
            await post(job, back)
            toast('It is as it was before.')
        }),
    })
})

async function trigger(job: Target): Promise<void> {
    const yes = await confirm({
        title: `Trigger ${job.name}?`, action: 'Trigger it', text: 'It runs once now, whatever its schedule says.',
    })
    if (!yes)
        return
    const key = newKey()
    await tried(async () => {
        const made = await post<{ execution_id: string }>(job, 'trigger', key)
        toast(`${job.name} was triggered.`, { link: { name: 'Its run', href: `/executions/${made.execution_id}` } })
    })
}

const all: JobDeed[] = [
    { word: 'pause', verb: 'Pause', run: turn('pause', 'paused', 'resume') },
    { word: 'resume', verb: 'Resume', run: turn('resume', 'resumed', 'pause') },
    { word: 'trigger', verb: 'Trigger', run: trigger },
]

export const deeds = () => all.filter(deed => may('POST', `/jobs/{}/${deed.word}`))
