// How an execution is, in one sentence. Pure.
import type { Execution } from 'openapi'
import { count, duration } from '../../base/format'
import { parse, relative } from '../../base/when'

export interface Said { text: string, hue?: 'bad' }

function attempts(one: Execution): string {
    const lost = one.lost_count > 0 ? ` (${one.lost_count} lost)` : ''
    return `${count(one.attempt_count, 'attempt')}${lost}`
}

/** `blocker` is the first thing that it waits for, in the server's words. */
export function sentence(one: Execution, now: number, blocker: string | null): Said {
    const last = one.attempts[one.attempts.length - 1]
    const kind = last?.error_class && last.error_class !== 'unknown' ? ` (${last.error_class.replace(/_/g, ' ')})` : ''
    const why = one.error ? `: ${one.error}${kind}` : ''
    const took = one.duration_ms === null ? '' : ` ${duration(one.duration_ms)}`
    const waits = blocker ? ` ${blocker[0].toUpperCase()}${blocker.slice(1)}.` : ''
    const since = parse(one.started_at)
    const inTime = (at: string | null) => relative(parse(at) ?? now, now, 'UTC')
    switch (one.status) {
    case 'completed':
        return { text: `It succeeded${took && ` in${took}`}${one.attempt_count > 1 ? `, with ${attempts(one)}` : ''}.` }
    case 'failed':
        return { text: `It failed for good after ${attempts(one)}${why}.`, hue: 'bad' }
    case 'timeout':
        return { text: `It ran into its timeout, after ${attempts(one)}${why}.`, hue: 'bad' }
    case 'running':
        return {
            text: one.stopping ? 'It was told to stop, and is not gone yet.'
                : `It has been running for ${duration(Math.max(0, now - (since ?? now)))}` +
                    `${one.attempt_count > 1 ? `, in attempt ${one.attempt_count}` : ''}.`,
        }
    case 'retrying':
        return { text: `Attempt ${one.attempt_count} failed${why}; it is tried again ${inTime(one.next_attempt_at)}.` }
    case 'scheduled':
        if (one.origin === 'ping')
            return { text: waits.trim() || 'It waits for a ping.', hue: one.start_late ? 'bad' : undefined }
        return { text: `It is due ${inTime(one.due_at)}.${waits}` }
    case 'blocked':
        return { text: waits.trim() || 'It waits for something else.' }
    case 'queued':
        return { text: waits ? `It waits.${waits}` : 'It is ready: the next worker that asks has it.' }
    default:
        return { text: `It was ${one.status}${why}.` }
    }
}
