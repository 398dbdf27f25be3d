// The form of a calendar: entries by hand, an iCalendar file, or both.
import './form.css'
import { useState } from 'preact/hooks'
import type { Calendar } from 'openapi'
import { api } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { reloadAll } from '../../api/resource'
import { bytes } from '../../base/format'
import { part } from '../../base/query'
import { Field } from '../../parts/ask/field'
import { ProblemBox } from '../../parts/show/problem'
import { unlessChanged } from '../common/act'
import { nameOf, print, read, Texts } from './document'

const FILE_BYTES_MAX = 1 << 20

interface FormProps {
    /** The one that is changed; absent: a new one. */
    calendar?: Calendar
    /** Names that are in use. */
    taken?: string[]
    done: (calendar: Calendar) => void
    leave?: () => void
}

export function Form({ calendar, taken = [], done, leave }: FormProps) {
    const [name, setName] = useState(calendar?.name ?? '')
    const [texts, setTexts] = useState(() => print(calendar?.document))
    const [problem, setProblem] = useState<Problem | null>(null)
    const [busy, setBusy] = useState(false)
    const set = (key: keyof Texts) => (value: string) => setTexts({ ...texts, [key]: value })
    const [base] = useState(calendar?.version) // what is changed here; somebody else may be quicker
    const isTaken = !calendar && taken.includes(name)
    const submit = async () => {
        setBusy(true)
        try {
            const path = `/calendars/${part(name)}`
            if (base !== undefined) {
                const now = await api.get<Calendar>(path)
                unlessChanged(`${name} (version ${base} is what this form began with)`, String(base),
                    String(now.version), now.changed_by)
            }
            const put = await api.put<Calendar>(path, read(texts))
            setProblem(null)
            reloadAll('/calendars')
            done(put)
        } catch (why) {
            setProblem(problemOf(why))
        }
        setBusy(false)
    }
    return (
        <form class="calendar-form" onSubmit={event => { event.preventDefault(); void submit() }}>
            {!calendar && <Field name="Name" value={name} onInput={setName} required autofocus
                error={isTaken ? 'There is one of this name; open it to change it.' : null}
                hint="Letters, digits and _ . : -" />}
            <Field name="What becomes of a run that falls into it" value={texts.policy} onInput={set('policy')}
                choices={[{ value: 'skip', name: 'skip: it does not run' },
                    { value: 'hold', name: 'hold: it waits until the time is over' }]} />
            <Field name="Time zone" value={texts.timezone} onInput={set('timezone')}
                hint="Europe/Berlin, say. Empty: that of the file, else that of each job." />
            <Field name="Description" value={texts.description} onInput={set('description')} />
            <Field name="Days" kind="area" mono value={texts.dates} onInput={set('dates')}
                hint="One a line: 2026-12-25, or 2026-12-24/2027-01-01, both included." />
            <Field name="Every week" kind="area" mono value={texts.weekly} onInput={set('weekly')}
                hint="One a line: Sat 00:00-Mon 06:00" />
            <Field name="Windows" kind="area" mono value={texts.windows} onInput={set('windows')}
                hint="One a line: 2026-11-20T22:00/2026-11-21T04:00" />
            <File text={texts.ical} take={(ical, file) => {
                setTexts({ ...texts, ical })
                if (!calendar && !name && file)
                    setName(nameOf(file))
            }} />
            {problem && <div class="calendar-wide"><ProblemBox problem={problem} /></div>}
            <div class="row calendar-wide">
                <button class="button main" type="submit" disabled={busy || !name || isTaken}>
                    {calendar ? 'Put it in place' : 'Add it'}</button>
                {leave && <button class="button" type="button" onClick={leave}>Leave it</button>}
            </div>
        </form>
    )
}

function File({ text, take }: { text: string, take: (ical: string, file?: string) => void }) {
    const [error, setError] = useState('')
    const choose = async (event: Event) => {
        const file = (event.currentTarget as HTMLInputElement).files?.[0]
        if (!file)
            return
        if (file.size > FILE_BYTES_MAX) {
            setError(`${file.name} has ${bytes(file.size)}; at most ${bytes(FILE_BYTES_MAX)} are taken.`)
            return
        }
        setError('')
        take(await file.text(), file.name)
    }
    return (
        <div class="field">
            <label for="calendar-file">iCalendar file (.ics)</label>
            <input id="calendar-file" class="field-control" type="file" accept=".ics,text/calendar"
                onChange={event => void choose(event)} />
            <div class="small">
                {error && <span class="field-error">{error}</span>}
                {text ? <span class="row">{bytes(new Blob([text]).size)} of events are part of it.
                    <button class="button plain small" type="button" onClick={() => take('')}>Take them out</button>
                </span>
                    : <span class="soft">Its events are added to what is above.</span>}
            </div>
        </div>
    )
}
