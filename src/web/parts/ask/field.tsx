// One field of a form: its name, the control, a hint, and what is wrong with it.
import './field.css'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
    name: string
    hint?: ComponentChildren
    /** In the server's words; `problem.errors` has it by the field's name. */
    error?: string | null
    value: string
    onInput: (value: string) => void
    kind?: 'text' | 'password' | 'number' | 'area' | 'datetime-local'
    /** The value is one of these. */
    choices?: { value: string, name: string }[]
    /** Offered while one types; others may be typed, too. */
    known?: readonly string[]
    mono?: boolean
    /** Of an area: at least; it grows with what is in it. */
    rows?: number
    required?: boolean
    autofocus?: boolean
    autocomplete?: string
}

const ROWS_MAX = 16

export function Field(props: FieldProps) {
    const { name, hint, error, value, onInput, kind = 'text', choices, known, mono } = props
    const id = useId()
    const shared = {
        id, value, class: `field-control${mono ? ' mono' : ''}`, required: props.required,
        'aria-invalid': !!error, 'aria-describedby': hint || error ? `${id}-more` : undefined,
        onInput: (event: Event) => onInput((event.currentTarget as HTMLInputElement).value),
    }
    return (
        <div class="field">
            <label for={id}>{name}</label>
            {choices ? <select {...shared}>
                {choices.map(choice => <option key={choice.value} value={choice.value}>{choice.name}</option>)}
            </select>
                : kind === 'area' ? <textarea spellcheck={false} {...shared}
                    rows={Math.max(props.rows ?? 6, Math.min(ROWS_MAX, value.split('\n').length))} />
                    : <input type={kind} spellcheck={false} autoFocus={props.autofocus}
                        list={known && `${id}-known`} autocomplete={props.autocomplete ?? 'off'} {...shared} />}
            {known && <datalist id={`${id}-known`}>{known.map(one => <option key={one} value={one} />)}</datalist>}
            {(hint || error) && <div id={`${id}-more`} class="small">
                {error && <span class="field-error">{error} </span>}
                {hint && <span class="soft">{hint}</span>}
            </div>}
        </div>
    )
}

export function Check({ name, checked, onChange, label }: {
    name: ComponentChildren, checked: boolean, onChange: (checked: boolean) => void, label?: string,
}) {
    return (
        <label class="check">
            <input type="checkbox" checked={checked} aria-label={label}
                onChange={event => onChange(event.currentTarget.checked)} />
            <span>{name}</span>
        </label>
    )
}
