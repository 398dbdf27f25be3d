// All queues in a sentence. Pure.
import type { Queue } from 'openapi'
import { count, duration, number } from '../../base/format'

type Numbers = Pick<Queue, 'name' | 'queued' | 'running' | 'paused' | 'oldest_age_ms'>

export function sentence(queues: readonly Numbers[]): string {
    let ready = 0
    let running = 0
    let oldest = queues[0]
    for (const queue of queues) {
        ready += queue.queued
        running += queue.running
        if (queue.oldest_age_ms > oldest.oldest_age_ms)
            oldest = queue
    }
    const paused = queues.filter(queue => queue.paused)
    const said = [ready === 0 ? 'Nothing is ready that does not run'
        : `${count(ready, 'execution')} ${ready === 1 ? 'is' : 'are'} ready and ${ready === 1 ? 'waits' : 'wait'}`,
    `${number(running)} ${running === 1 ? 'runs' : 'run'}`]
    if (oldest.oldest_age_ms > 0)
        said.push(`the oldest waits ${duration(oldest.oldest_age_ms)} in ${oldest.name}`)
    if (paused.length > 0)
        said.push(paused.length <= 3 ? `${paused.map(queue => queue.name).join(' and ')} ${
            paused.length === 1 ? 'is' : 'are'} paused` : `${count(paused.length, 'queue')} are paused`)
    return said.join('; ') + '.'
}
