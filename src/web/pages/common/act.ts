// A change of one thing: made, told, and taken back where there is a way back.
import { problemOf } from '../../api/problem'
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

export interface Act {
    /** Once it is done: "The queue mail is paused." */
    said: string
    /** The way back; it is offered for ten seconds. */
    undo?: () => Promise<unknown>
    /** What is read again: the beginnings of its paths. */
    touches: string[]
    link?: { name: string, href: string }
}

/** Whether it was done; if not, that has been told. */
export async function act(work: () => Promise<unknown>, { said, undo, touches, link }: Act): Promise<boolean> {
    try {
        await work()
    } catch (why) {
        refused(why)
        return false
    }
    touches.forEach(reloadAll)
    toast(said, { link, undo: undo && (() => void act(undo, { said: 'It is as it was before.', touches })) })
    return true
}
