// All queues, however many: read a thousand at a time, shown as they come, and read anew less often the more there
// are. Between that the numbers of those that change come with the ticks of the stream.
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ExecutionCounts, Queue, QueueList } from 'openapi'
import { api } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { me } from '../../api/session'
import { isSeen } from '../../base/seen'
import { onReset, tick } from '../../live/live'

const PAGE = 1000
const FEW_MS = 5000
const MANY_MS = 30_000

let held: { queues: Queue[], at: number, who: string | undefined } | null = null
/** What was read is nobody else's. */
const find = () => held && held.who === me.value?.key ? held : null

export interface Queues {
    queues: Queue[] | null
    problem: Problem | null
    at: number | null
    isWhole: boolean
    reload: () => void
    /** Of a queue, as the newest tick has it, or as it was read. */
    numbers: (queue: Queue) => Pick<Queue, 'depth' | 'queued' | 'running'>
}

async function readAll(part: (queues: Queue[]) => void, signal: AbortSignal): Promise<Queue[]> {
    let queues: Queue[] = []
    let cursor: string | null = null
    do {
        const page: QueueList = await api.get('/queues', { query: { limit: PAGE, cursor }, signal })
        queues = queues.concat(page.queues)
        cursor = page.next_cursor
        if (cursor && queues.length === PAGE)
            part(queues) // at once something to see; the rest comes as a whole
    } while (cursor)
    return queues
}

const depthOf = (n: ExecutionCounts) => n.scheduled + n.blocked + n.queued + n.retrying

export function useQueues(): Queues {
    const [queues, set] = useState(find()?.queues ?? null)
    const [problem, fail] = useState<Problem | null>(null)
    const [again, reload] = useState(0)
    useEffect(() => {
        const abort = new AbortController()
        let timer: ReturnType<typeof setTimeout>
        const read = async () => {
            try {
                const all = await readAll(part => !find() && set(part), abort.signal)
                held = { queues: all, at: Date.now(), who: me.value?.key }
                set(all)
                fail(null)
            } catch (why) {
                if (!abort.signal.aborted)
                    fail(problemOf(why))
            }
            if (!abort.signal.aborted)
                timer = setTimeout(next, (held?.queues.length ?? 0) > PAGE ? MANY_MS : FEW_MS)
        }
        const next = () => isSeen() ? void read() : timer = setTimeout(next, FEW_MS)
        void read()
        const end = onReset(() => reload(n => n + 1))
        return () => {
            abort.abort()
            clearTimeout(timer)
            end()
        }
    }, [again])
    const changed = tick.value?.queues
    const live = useMemo(() => new Map(changed?.map(one => [one.queue, one])), [changed])
    return {
        queues, problem, at: find()?.at ?? null, isWhole: find() !== null,
        reload: () => reload(n => n + 1),
        numbers: queue => {
            const newest = live.get(queue.name)
            return newest ? { depth: depthOf(newest), queued: newest.queued, running: newest.running } : queue
        },
    }
}
