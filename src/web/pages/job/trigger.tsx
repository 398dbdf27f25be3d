// One run now, with the job's payload or another one.
import { useState } from 'preact/hooks'
import type { Job } from 'openapi'
import { Problem, problemOf } from '../../api/problem'
import { Dialog } from '../../parts/ask/dialog'
import { Check, Field } from '../../parts/ask/field'
import { ProblemBox } from '../../parts/show/problem'
import { json } from '../definition/command'
import { hasLongNumber } from '../definition/document'
import { recurs as recursOf, titleOf } from './words'

/** What is typed, or why it is none. */
function read(text: string): { value?: unknown, error: string | null } {
    try {
        const value: unknown = JSON.parse(text)
        return hasLongNumber(value)
            ? { error: 'a browser cannot carry whole numbers beyond 9007199254740991; send it by the command line' }
            : { value, error: null }
    } catch (why) {
        return { error: (why as Error).message }
    }
}

export function Trigger({ job, run, onClose }: {
    job: Job, run: (body?: { payload: unknown }) => Promise<void>, onClose: () => void,
}) {
    const recurs = recursOf(job)
    const [other, setOther] = useState(false)
    const [text, setText] = useState(() => json(job.payload ?? {}))
    const [problem, setProblem] = useState<Problem | null>(null)
    const [busy, setBusy] = useState(false)
    const { value, error } = other ? read(text) : { value: undefined, error: null }

    const submit = async () => {
        setBusy(true)
        try {
            await run(other ? { payload: value } : undefined)
            onClose()
        } catch (why) {
            setProblem(problemOf(why))
        }
        setBusy(false)
    }
    return (
        <Dialog title={`Run ${titleOf(job)} now?`} onClose={onClose}>
            <form class="stack" onSubmit={event => { event.preventDefault(); void submit() }}>
                <p>{recurs ? 'It runs once more, now; its schedule goes on as it was.'
                    : 'Its only run does not wait any longer.'}</p>
                {recurs && <Check name="With another payload" checked={other} onChange={setOther} />}
                {other && <Field name="Payload, as JSON" kind="area" mono value={text} onInput={setText}
                    error={error} />}
                {problem && <ProblemBox problem={problem} />}
                <div class="dialog-buttons">
                    <button class="button" type="button" onClick={onClose}>Leave it</button>
                    <button class="button main" type="submit" disabled={busy || error !== null}>
                        Trigger 1 run</button>
                </div>
            </form>
        </Dialog>
    )
}
