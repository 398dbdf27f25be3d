// A change of one thing: made, told, and taken back where there is a way back.
import { Problem, problemOf } from '../../api/problem'
import { reloadAll } from '../../api/resource'
import { toast } from '../../parts/ask/toast'

/** Why something was not done, in the server's own words. */
export function refused(why: unknown): void {
    const problem = problemOf(why)
    const fields = problem.errors.map(error => `${error.field} ${error.message}`).filter(text =>
        !problem.detail.includes(text)).join('; ')
    toast([problem.detail, fields].filter(Boolean).join(': ') +
        (problem.requestId ? ` (request ${problem.requestId})` : ''), { kind: 'bad' })
}

export interface Act<T> {
    /** Once it is done: "The queue mail is paused." */
    said: string
    /** The way back, from what the change was answered with; it is offered for ten seconds. */
    undo?: (made: T) => Promise<unknown>
    /** What is read again: the beginnings of its paths. */
    touches: string[]
    link?: { name: string, href: string }
}

/** Whether it was done; if not, that has been told. */
export async function act<T>(work: () => Promise<T>, { said, undo, touches, link }: Act<T>): Promise<boolean> {
    let made: T
    try {
        made = await work()
    } catch (why) {
        refused(why)
        return false
    }
    touches.forEach(reloadAll)
    const back = () => void act(() => undo!(made), { said: 'It is as it was before.', touches })
    toast(said, { link, undo: undo && back })
    return true
}

/** What somebody else has done since is not taken back: `then` and `now` tell the newest change, and whose it was. */
export function unlessChanged(what: string, then: string | null, now: string | null, who: string | null): void {
    if (then !== now)
        throw new Problem(409, 'changed', `${who ?? 'Somebody'} has changed ${what} since: it stays as it is now.`)
}
