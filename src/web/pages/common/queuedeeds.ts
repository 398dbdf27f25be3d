// What one does with a queue: paused, resumed, limited, each with a way back.
import type { Queue } from 'openapi'
import { api } from '../../api/client'
import { part } from '../../base/query'
import { act } from './act'

const touches = ['/queues', '/stats/blockers']
const call = (name: string, verb: string) => api.post(`/queues/${part(name)}/${verb}`)

export const pauseQueue = (name: string) => act(() => call(name, 'pause'), {
    said: `${name} is paused: what runs goes on, nothing new starts.`, undo: () => call(name, 'resume'), touches,
})

export const resumeQueue = (name: string) => act(() => call(name, 'resume'), {
    said: `${name} goes on.`, undo: () => call(name, 'pause'), touches,
})

export function limitQueue(queue: Queue, concurrency: number | null): Promise<boolean> {
    const put = (limit: number | null) => api.put(`/queues/${part(queue.name)}`, { concurrency: limit })
    return act(() => put(concurrency), {
        said: concurrency === null ? `${queue.name} has no limit any more.`
            : `At most ${concurrency} of ${queue.name} run at once.`,
        undo: () => put(queue.concurrency), touches,
    })
}
