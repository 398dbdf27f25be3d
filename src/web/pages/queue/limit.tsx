// How many of a queue may run at once, and the form that changes it.
import { useState } from 'preact/hooks'
import type { Queue } from 'openapi'
import { may } from '../../api/session'
import { Field } from '../../parts/ask/field'
import { Time } from '../../parts/show/time'
import { limitQueue } from '../common/queuedeeds'

const LIMIT_MAX = 1_000_000

/** The number that was typed, null for no limit, or what is wrong with it. */
function read(text: string): number | null | string {
    if (text.trim() === '')
        return null
    const n = Number(text)
    return Number.isInteger(n) && n >= 1 && n <= LIMIT_MAX ? n
        : `A whole number from 1 to ${LIMIT_MAX.toLocaleString('en')}, or nothing for no limit.`
}

export function Limit({ queue }: { queue: Queue }) {
    const before = queue.concurrency === null ? '' : String(queue.concurrency)
    const [text, setText] = useState(before)
    const [busy, setBusy] = useState(false)
    const value = read(text)
    const save = async () => {
        if (typeof value === 'string')
            return
        setBusy(true)
        await limitQueue(queue, value)
        setBusy(false)
    }
    return (
        <section class="panel stack">
            <h2>Limit</h2>
            <p>{queue.concurrency === null ? 'As many run at once as there are slots.'
                : `At most ${queue.concurrency.toLocaleString('en')} run at once.`}
            {queue.changed_at && <span class="soft"> Changed <Time at={queue.changed_at} /> by {queue.changed_by}.
            </span>}</p>
            {may('PUT', '/queues/{}') && <form class="queue-limit" onSubmit={event => {
                event.preventDefault()
                void save()
            }}>
                <Field name="At once, at most (empty: no limit)" kind="number" value={text} onInput={setText}
                    error={typeof value === 'string' ? value : null} />
                <button class="button" type="submit"
                    disabled={busy || text === before || typeof value === 'string'}>Set the limit</button>
            </form>}
        </section>
    )
}
