// Actions on a queue: pause, resume, limit, each with a way back.
import type { Queue } from 'openapi'
import { api } from '../../api/client'
import { part } from '../../base/query'
import { act, unlessChanged } from './act'

const touches = ['/queues', '/stats/blockers']
const pathOf = (name: string) => `/queues/${part(name)}`
const call = (name: string, verb: string) => api.post<Queue>(`${pathOf(name)}/${verb}`)

/** The way back from `made`, unless somebody has changed the queue since. */
const back = (undo: () => Promise<Queue>) => async (made: Queue) => {
    const now = await api.get<Queue>(pathOf(made.name))
    unlessChanged(made.name, made.changed_at, now.changed_at, now.changed_by)
    return undo()
}

export const pauseQueue = (name: string) => act(() => call(name, 'pause'), {
    said: `${name} is paused: what runs goes on, nothing new starts.`, undo: back(() => call(name, 'resume')), touches,
})

export const resumeQueue = (name: string) => act(() => call(name, 'resume'), {
    said: `${name} goes on.`, undo: back(() => call(name, 'pause')), touches,
})

export function limitQueue(queue: Queue, concurrency: number | null): Promise<boolean> {
    const put = (limit: number | null) => api.put<Queue>(pathOf(queue.name), { concurrency: limit })
    return act(() => put(concurrency), {
        said: concurrency === null ? `${queue.name} has no limit any more.`
            : `At most ${concurrency} of ${queue.name} run at once.`,
        undo: back(() => put(queue.concurrency)), touches,
    })
}
