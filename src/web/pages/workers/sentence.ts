// All workers in a sentence. Pure.
import type { Worker } from 'openapi'
import { count, number } from '../../base/format'

const others = [['cordoned', 'cordoned'], ['draining', 'draining'], ['away', 'away: not heard lately']]

export function sentence(workers: readonly Pick<Worker, 'status' | 'slots' | 'busy'>[]): string {
    const of = (status: string) => workers.filter(worker => worker.status === status)
    const active = of('active')
    const slots = active.reduce((sum, worker) => sum + worker.slots, 0)
    const busy = active.reduce((sum, worker) => sum + worker.busy, 0)
    const said = [active.length === 0 ? 'No worker takes work'
        : `${count(active.length, 'worker')} ${active.length === 1 ? 'takes' : 'take'} work, ${number(busy)} of ${
            active.length === 1 ? 'its' : 'their'} ${
            count(slots, 'slot')} ${busy === 1 ? 'is' : 'are'} busy`]
    for (const [status, word] of others) {
        const n = of(status).length
        if (n > 0)
            said.push(`${number(n)} ${n === 1 ? 'is' : 'are'} ${word}`)
    }
    return said.join(', ') + '.'
}
