// The reason why an execution waits, in a few words, in a row of a list. A click opens all of it.
import { useEffect, useState } from 'preact/hooks'
import type { Blocker, Explanation } from 'openapi'
import { api } from '../../api/client'
import { isMerelyTime } from '../../base/blockers'
import { few } from '../../base/few'
import { isSeen } from '../../base/seen'

/** A list may show many at once, and each is a question to the server: a few at a time, the newest answers kept. */
const AT_ONCE = 4
const KEPT_MAX = 500
const OLD_MS = 10_000

interface Known { text: string, whole: string, at: number }
const known = new Map<string, Known>()
const asking = few(AT_ONCE)

/** "the queue 'mail' was paused …; resume it: …": the part before what is to be done. */
export const brief = (text: string) => text.split('; ')[0]

const uses = ({ used, limit }: Blocker) => used === undefined || limit === undefined ? '' : `: ${used} of ${limit}`

/** As short as a row wants it; what is not here is said in the server's words. */
const shorter: Partial<Record<Blocker['kind'], (blocker: Blocker) => string>> = {
    job_paused: () => 'the job is paused',
    queue_paused: blocker => `queue ${blocker.queue} is paused`,
    calendar: blocker => `calendar ${blocker.calendar}`,
    scheduled: () => 'its time has not come',
    overlap: () => 'the run before it',
    dependency: ({ ahead }) => ahead === undefined || ahead > 1 ? `${ahead ?? 'some'} other jobs` : 'another job',
    no_worker: () => 'no worker is connected',
    no_handler: blocker => `no worker knows ${blocker.handler}`,
    queue_unserved: blocker => `no worker serves ${blocker.queue}`,
    queue_full: blocker => `limit of queue ${blocker.queue}${uses(blocker)}`,
    team_limit: blocker => `limit of team ${blocker.team}${uses(blocker)}`,
    concurrency: blocker => `limit of ${blocker.key}${uses(blocker)}`,
    rate: blocker => `rate of ${blocker.key}`,
    breaker: blocker => `breaker ${blocker.key} is open`,
    workers_busy: blocker => `no free slot${uses(blocker)}`,
    behind: blocker => `${blocker.ahead_is_min ? 'at least ' : ''}${blocker.ahead} ahead in queue ${blocker.queue}`,
}

function wordsOf(why: Explanation): string {
    const [first, ...others] = why.blockers
    if (!first)
        return why.status === 'running' ? 'runs' : 'the next worker that asks has it'
    const short = shorter[first.kind]?.(first) ?? brief(first.text)
    return others.length > 0 && !isMerelyTime(first.kind) ? `${short}, and ${others.length} more` : short
}

export function Why({ executionId, error }: { executionId: string, error?: string | null }) {
    const [text, setText] = useState(known.get(executionId)?.text ?? '')
    useEffect(() => {
        let left = false
        const ask = async () => {
            if (left || Date.now() - (known.get(executionId)?.at ?? 0) < OLD_MS)
                return
            try {
                const why = await api.get<Explanation>(`/executions/${executionId}/explain`, { retries: 0 })
                known.delete(executionId)
                known.set(executionId, { text: wordsOf(why), whole: why.summary, at: Date.now() })
                if (known.size > KEPT_MAX)
                    known.delete(known.keys().next().value!)
            } catch {
                return // the list itself says when the server is away
            }
            if (!left)
                setText(known.get(executionId)!.text)
        }
        const queue = () => isSeen() && asking.ask(ask)
        queue()
        const timer = setInterval(queue, OLD_MS)
        return () => {
            left = true
            asking.drop(ask)
            clearInterval(timer)
        }
    }, [executionId])
    if (text === '')
        return null // a link without a name is none
    const title = [known.get(executionId)?.whole, error && `last: ${error}`].filter(Boolean).join('; ')
    return <a class="soft" href={`/executions/${executionId}`} tabIndex={-1} title={title}>{text}</a>
}
