// Actions on a worker: cordon and uncordon, with a way back, and drain, which has none.
import type { Worker, WorkerCordon } from 'openapi'
import { api } from '../../api/client'
import { count } from '../../base/format'
import { part } from '../../base/query'
import { confirm } from '../../parts/ask/confirm'
import { act, unlessChanged } from './act'

const touches = ['/workers']
export const callWorker = (id: string, verb: 'cordon' | 'uncordon' | 'drain', body?: unknown) =>
    api.post<WorkerCordon>(`/workers/${part(id)}/${verb}`, body)

const cordon = (worker: Worker, reason: string | null | undefined) =>
    callWorker(worker.worker_id, 'cordon', reason ? { reason } : undefined)

/** The way back, unless the worker was cordoned or uncordoned since. */
const back = (worker: Worker, undo: () => Promise<unknown>) => async (made: WorkerCordon) => {
    const now = await api.get<Worker>(`/workers/${part(worker.worker_id)}`)
    unlessChanged(worker.name, made.cordoned_at, now.cordoned_at, now.cordoned_by)
    return undo()
}

export const cordonWorker = (worker: Worker, reason?: string) => act(() => cordon(worker, reason), {
    said: `${worker.name} gets nothing new; what it runs goes on.`, touches,
    undo: back(worker, () => callWorker(worker.worker_id, 'uncordon')),
})

export const uncordonWorker = (worker: Worker) => act(() => callWorker(worker.worker_id, 'uncordon'), {
    said: `${worker.name} takes work again.`, touches,
    undo: back(worker, () => cordon(worker, worker.cordon_reason)),
})

export async function drainWorker(worker: Worker): Promise<void> {
    const runs = worker.busy === 0 ? 'It runs nothing at the moment.'
        : `It may end the ${count(worker.busy, 'run')} that it has; what does not end in time goes back and costs ` +
            'no attempt.'
    if (await confirm({
        title: `Drain ${worker.name}?`, action: 'Drain 1 worker', danger: true,
        text: `It takes nothing new, and its process ends. ${runs} This cannot be undone: start it again by hand. ` +
            'To keep work from it for a while, cordon it instead.',
    }))
        await act(() => callWorker(worker.worker_id, 'drain'), { said: `${worker.name} is asked to leave.`, touches })
}
