// All breakers in a sentence. Pure.
import type { Breaker } from 'openapi'
import { count, number } from '../../base/format'

export function sentence(breakers: readonly Pick<Breaker, 'target' | 'state' | 'waiting'>[]): string {
    const open = breakers.filter(breaker => breaker.state !== 'closed')
    if (open.length === 0)
        return `${count(breakers.length, 'target')} ${breakers.length === 1 ? 'was' : 'were'} called lately, and ${
            breakers.length === 1 ? 'it answers' : 'all answer'} well enough.`
    const waiting = open.reduce((sum, breaker) => sum + breaker.waiting, 0)
    const which = open.length <= 3 ? open.map(breaker => breaker.target).join(', ') : `${number(open.length)} targets`
    const who = waiting === 0 ? 'nothing waits'
        : `${count(waiting, 'execution')} ${waiting === 1 ? 'waits' : 'wait'}`
    return `${which} ${open.length === 1 ? 'fails and is' : 'fail and are'} left alone; ${who} for that.`
}
