// A document as JSON, YAML, a command line or a call: to read, to copy, to keep as a file.
import './shown.css'
import { useEffect, useState } from 'preact/hooks'
import { query, setQuery } from '../../base/router'
import { yaml } from '../../base/yaml'
import { Code } from '../../parts/show/code'
import { cli, curl, json } from './command'
import { Document, hasLongNumber } from './document'

const forms = ['json', 'yaml', 'cli', 'curl'] as const
type Form = typeof forms[number]
const names: Record<Form, string> = { json: 'JSON', yaml: 'YAML', cli: 'Command line', curl: 'curl' }

function print(form: Form, document: Document): string {
    switch (form) {
    case 'json': return json(document) + '\n'
    case 'yaml': return yaml(document)
    case 'cli': return cli(document)
    case 'curl': return curl(document, location.origin)
    }
}

/** A link that saves the text as a file. */
function Save({ text, name }: { text: string, name: string }) {
    const [href, setHref] = useState<string>()
    useEffect(() => {
        const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
        setHref(url)
        return () => URL.revokeObjectURL(url)
    }, [text])
    return <a class="button plain" href={href} download={name}>Save as a file</a>
}

export function Shown({ document, otherwise = 'json' }: { document: Document, otherwise?: Form }) {
    const asked = query.value.get('as') as Form
    const form = forms.includes(asked) ? asked : otherwise
    const file = `${String(document.name ?? 'job').replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 60)}.json`
    return (
        <div class="stack shown">
            <div class="row" role="group" aria-label="Shown as">
                {forms.map(one => <button key={one} type="button" class={`button${one === form ? '' : ' plain'}`}
                    aria-pressed={one === form} onClick={() => setQuery({ as: one }, { replace: true })}>
                    {names[one]}</button>)}
                <Save text={json(document) + '\n'} name={file} />
            </div>
            <Code text={print(form, document)} label={names[form]} wrap />
            {hasLongNumber(document) && <p class="old-data">Its payload has whole numbers of more than 15 digits, which
                a browser rounds. <code>belfry show -o json</code> prints them as they are.</p>}
            {form === 'yaml' && <p class="soft small">To read. Files for <code>belfry submit -f</code> are JSON.</p>}
        </div>
    )
}
