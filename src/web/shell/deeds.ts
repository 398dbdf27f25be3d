// Actions on a job in the search. Those that cannot be taken back ask first.
import { api, newKey } from '../api/client'
import { may } from '../api/session'
import { part } from '../base/query'
import { act } from '../pages/common/act'
import { confirm } from '../parts/ask/confirm'

export interface Target { id: string, name: string }
export interface JobDeed { word: string, verb: string, run: (job: Target) => Promise<unknown> }

const touches = ['/jobs']

const post = (job: Target, what: string, key?: string) =>
    api.post(`/jobs/${part(job.id)}/${what}`, undefined, { idempotencyKey: key })

const turn = (what: string, said: string, back: string) => (job: Target) =>
    act(() => post(job, what), { said: `${job.name} is ${said}.`, undo: () => post(job, back), touches })

async function trigger(job: Target): Promise<void> {
    const yes = await confirm({
        title: `Trigger ${job.name}?`, action: 'Trigger it', text: 'It runs once now, whatever its schedule says.',
    })
    if (yes)
        await act(() => post(job, 'trigger', newKey()), {
            said: `${job.name} was triggered.`, touches,
            link: { name: 'Its runs', href: `/jobs/${part(job.id)}/executions` },
        })
}

const all: JobDeed[] = [
    { word: 'pause', verb: 'Pause', run: turn('pause', 'paused', 'resume') },
    { word: 'resume', verb: 'Resume', run: turn('resume', 'resumed', 'pause') },
    { word: 'trigger', verb: 'Trigger', run: trigger },
]

export const deeds = () => all.filter(deed => may('POST', `/jobs/{}/${deed.word}`))
