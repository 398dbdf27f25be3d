// The life of an execution as stretches of time, each with its word, and what happened between them. Pure.
import type { ExecutionTransition } from 'openapi'
import { parse } from '../../base/when'

/** What has happened, for people (docs/protocol.md, "Executions"). */
const words: Record<string, string> = {
    create: 'created',
    due: 'became ready',
    lease: 'given to a worker',
    succeed: 'succeeded',
    retry: 'the attempt failed; it is tried again',
    exhaust: 'failed for good',
    expire: 'the last attempt ran into its timeout',
    lost: 'its worker was not heard of any more',
    return: 'came back unfinished',
    cancel: 'somebody cancelled it',
    stopped: 'its worker stopped it',
    skip: 'skipped',
    block: 'has to wait for something else',
    plan: 'planned for another time',
    hold: 'held by a calendar',
    quarantine: 'quarantined: its worker was lost too often',
    start_late: 'should have started by now',
    overdue: 'did not start in time, and must not any more',
    sla_warning: 'takes longer than expected',
    sla_violation: 'takes longer than its SLA allows',
    sla_extension: 'its SLA was extended',
    slow: 'slower than usual',
    clock: "the server's clock was set",
    missed: 'its ping has not come',
    deduplicate: 'its work had been done already',
}

export function eventWords(event: string): string {
    return words[event] ?? event.replace(/_/g, ' ')
}

/** What it does, or waits for, while it has this status. */
const meanings: Record<string, string> = {
    scheduled: 'waited for its time',
    blocked: 'waited for another run or job',
    queued: 'waited for its turn',
    running: 'ran',
    retrying: 'waited for its next attempt',
}

export interface Stretch {
    status: string
    words: string
    from: number
    /** null: it goes on. */
    to: number | null
    /** Of attempts. */
    number: number
}

/** Times of the same status are one stretch, unless something began anew between them. */
export function stretches(transitions: readonly ExecutionTransition[]): Stretch[] {
    const out: Stretch[] = []
    let attempt = 0
    for (const { at, event, status } of transitions) {
        const last = out[out.length - 1]
        const ms = parse(at) ?? last?.from ?? 0
        attempt += event === 'lease' ? 1 : 0
        if (last && last.to === null && last.status === status && event !== 'lease')
            continue
        if (last && last.to === null)
            last.to = Math.max(ms, last.from)
        if (meanings[status])
            out.push({ status, words: meanings[status], from: ms, to: null, number: attempt })
    }
    return out
}

/** A slot is made when the one before it begins: the wait for its time says nothing, once that has come. */
export function sinceDue(all: readonly Stretch[]): readonly Stretch[] {
    return all.length > 1 && all[0].status === 'scheduled' ? all.slice(1) : all
}

/** How wide each is drawn, in percent: by its length, but each so wide that it can be seen. */
export function widths(all: readonly Stretch[], now: number): number[] {
    const lengths = all.map(one => Math.max(0, (one.to ?? now) - one.from))
    const whole = lengths.reduce((sum, one) => sum + one, 0)
    const least = Math.min(4, 100 / Math.max(all.length, 1))
    const raw = lengths.map(one => Math.max(least, whole === 0 ? 0 : one / whole * 100))
    const sum = raw.reduce((all, one) => all + one, 0)
    return raw.map(one => one / sum * 100)
}
