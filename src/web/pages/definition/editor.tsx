// A document being written, by a form or as text; what one says the other shows. What it comes to is handed out with
// each change.
import { useState } from 'preact/hooks'
import type { FieldError } from '../../api/problem'
import { Field } from '../../parts/ask/field'
import { json } from './command'
import { Document, hasLongNumber, isObject } from './document'
import { Draft, draftOf, toDocument } from './draft'
import { Form } from './form'

/** `document` is null while what is written is none. */
export interface Written { document: Document | null, errors: FieldError[] }

function readText(text: string): Written {
    const wrong = (message: string): Written => ({ document: null, errors: [{ field: '', message }] })
    try {
        const document: unknown = JSON.parse(text)
        if (!isObject(document))
            return wrong('A job is an object: { … }')
        return { document, errors: [] }
    } catch (why) {
        return wrong((why as Error).message)
    }
}

function readDraft(draft: Draft): Written {
    const { document, errors } = toDocument(draft)
    return { document: errors.length > 0 ? null : document, errors }
}

export function Editor({ start, written, errors, onChange, editing }: {
    start: Document, written: Written, errors: readonly FieldError[], onChange: (written: Written) => void,
    editing?: boolean,
}) {
    const [draft, setDraft] = useState(() => draftOf(start))
    const [text, setText] = useState<string | null>(null) // null: by the form
    const all = [...written.errors, ...errors]
    const long = hasLongNumber(start)

    const toText = () => setText(json(written.document ?? toDocument(draft).document))
    const toForm = () => {
        if (written.document)
            setDraft(draftOf(written.document))
        setText(null)
    }
    return (
        <div class="stack">
            <div class="row" role="group" aria-label="Written as">
                <button class={`button${text === null ? '' : ' plain'}`} type="button" aria-pressed={text === null}
                    disabled={text !== null && !written.document} onClick={toForm}>Form</button>
                <button class={`button${text === null ? ' plain' : ''}`} type="button" aria-pressed={text !== null}
                    onClick={() => text === null && toText()}>JSON</button>
                <span class="soft small">The form keeps what it has no field for.</span>
            </div>
            {long && <p class="old-data">The payload has whole numbers of more than 15 digits, which a browser rounds.
                As long as the payload is left as it is, it stays as it was sent.</p>}
            {text === null
                ? <Form draft={draft} errors={all} editing={editing} set={next => {
                    setDraft(next)
                    onChange(readDraft(next))
                }} />
                : <div class="form-text"><Field name="The job as JSON" kind="area" mono value={text}
                    error={all.map(({ field, message }) => `${field} ${message}`).join('; ')}
                    onInput={next => {
                        setText(next)
                        onChange(readText(next))
                    }} /></div>}
        </div>
    )
}
