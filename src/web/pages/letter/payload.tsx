// Another payload for one run: JSON, checked as one types.
import { useState } from 'preact/hooks'
import { Field } from '../../parts/ask/field'

function read(text: string): { value?: unknown, error: string | null } {
    try {
        return { value: JSON.parse(text), error: null }
    } catch (why) {
        return { error: `This is no JSON: ${(why as Error).message}` }
    }
}

export function PayloadForm({ before, run, leave }: {
    before: unknown, run: (payload: unknown) => Promise<void>, leave: () => void,
}) {
    const [text, setText] = useState(before === null ? '{}' : JSON.stringify(before, null, 2))
    const [busy, setBusy] = useState(false)
    const { value, error } = read(text)
    const submit = async () => {
        setBusy(true)
        await run(value)
        setBusy(false)
    }
    return (
        <form class="stack" onSubmit={event => { event.preventDefault(); void submit() }}>
            <Field name="Payload" kind="area" mono value={text} onInput={setText} error={error} autofocus
                hint="JSON. This run and whatever repeats it get it; the job keeps its own." />
            <div class="row">
                <button class="button main" type="submit" disabled={busy || error !== null || value === null}>
                    Run it once with this payload</button>
                <button class="button" type="button" onClick={leave}>Leave it</button>
            </div>
        </form>
    )
}
