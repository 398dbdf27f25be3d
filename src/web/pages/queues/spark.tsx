// How deep a queue was over the last hour, as a line in its row. Rows that are seen ask for theirs, two at a time;
// an answer is good for a minute.
import { useEffect, useState } from 'preact/hooks'
import type { Series } from 'openapi'
import { api } from '../../api/client'
import { number } from '../../base/format'
import { isSeen } from '../../base/seen'
import { few } from '../../base/few'

const AT_ONCE = 2
const GOOD_MS = 60_000
const KEPT_MAX = 300
const WIDTH = 112
const HEIGHT = 20

interface Known { values: (number | null)[], at: number }
const known = new Map<string, Known>()
const asking = few(AT_ONCE)

async function read(queue: string): Promise<void> {
    if (Date.now() - (known.get(queue)?.at ?? 0) < GOOD_MS)
        return
    try {
        const series = await api.get<Series>('/series', { query: { metric: 'depth', queue, since: '1h' }, retries: 0 })
        known.delete(queue)
        known.set(queue, { values: series.points.map(point => point.value), at: Date.now() })
        if (known.size > KEPT_MAX)
            known.delete(known.keys().next().value!)
    } catch {
        // the list itself says when the server is away
    }
}

/** A gap begins a new piece. */
function pathOf(values: (number | null)[], most: number): string {
    let path = ''
    let pen = 'M'
    values.forEach((value, i) => {
        if (value === null) {
            pen = 'M'
            return
        }
        const x = i / Math.max(values.length - 1, 1) * WIDTH
        path += `${pen}${x.toFixed(1)} ${(HEIGHT - 1 - value / Math.max(most, 1) * (HEIGHT - 3)).toFixed(1)}`
        pen = 'L'
    })
    return path
}

export function Spark({ queue }: { queue: string }) {
    const [values, set] = useState(known.get(queue)?.values)
    useEffect(() => {
        let left = false
        const ask = async () => {
            if (!left)
                await read(queue)
            if (!left)
                set(known.get(queue)?.values)
        }
        const wait = () => isSeen() && asking.ask(ask)
        wait()
        const timer = setInterval(wait, GOOD_MS)
        return () => {
            left = true
            asking.drop(ask)
            clearInterval(timer)
        }
    }, [queue])
    const seen = values?.filter(value => value !== null) ?? []
    if (!values || seen.length === 0)
        return null
    const most = Math.max(...seen)
    const said = `between ${number(Math.min(...seen))} and ${number(most)} in the last hour`
    return (
        <svg class="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={said}>
            <title>{said}</title>
            <path d={pathOf(values, most)} />
        </svg>
    )
}
