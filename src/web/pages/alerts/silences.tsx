// Silences: which alerts are kept from being sent, until when, by whom, and why.
import './alerts.css'
import { useState } from 'preact/hooks'
import type { Silence } from 'openapi'
import { api } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { reloadAll, useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { exact, myZone, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { Dialog } from '../../parts/ask/dialog'
import { Field } from '../../parts/ask/field'
import { toast } from '../../parts/ask/toast'
import { Empty } from '../../parts/show/empty'
import { OldData, ProblemBox } from '../../parts/show/problem'
import { Time } from '../../parts/show/time'
import { act } from '../common/act'

const EVERY_MS = 5000
const touches = ['/alerts/silences']
const lengths = [['1h', 'for an hour'], ['4h', 'for 4 hours'], ['12h', 'for 12 hours'], ['1d', 'for a day'],
    ['7d', 'for a week'], ['until', 'until …']].map(([value, name]) => ({ value, name }))

const lift = (silence: Silence) => act(() => api.delete(`/alerts/silences/${silence.silence_id}`), {
    said: `${silence.key} is not silenced any more.`, touches,
    undo: () => api.post('/alerts/silences', { key: silence.key, until: silence.until, reason: silence.reason }),
})

export function Silences() {
    const { data, problem, at, reload } = useResource<{ silences: Silence[] }>('/alerts/silences', {},
        { every: EVERY_MS })
    const [adding, add] = useState(false)
    const silences = data?.silences
    return (
        <>
            <div class="row spread">
                <p>{!silences ? '' : silences.length === 0 ? 'Nothing is silenced.'
                    : `${count(silences.length, 'silence')} ${silences.length === 1 ? 'holds' : 'hold'}: alerts of ${
                    silences.length === 1 ? 'this key' : 'these keys'} are kept and not sent.`}</p>
                {may('POST', '/alerts/silences') && <button class="button main" type="button"
                    onClick={() => add(true)}>Silence …</button>}
            </div>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            <ul class={`silences list${problem ? ' is-old' : ''}`} aria-label="Silences">
                {silences?.map(silence => <li key={silence.silence_id}>
                    <div class="row spread">
                        <strong class="mono">{silence.key}</strong>
                        {may('DELETE', '/alerts/silences/{}') && <button class="button" type="button"
                            aria-label={`End the silence of ${silence.key}`} onClick={() => void lift(silence)}>
                            End it</button>}
                    </div>
                    <span>{silence.reason ?? <span class="soft">without a reason</span>}</span>
                    <span class="soft small">until <Time at={silence.until} exactly />, made <Time
                        at={silence.created_at} /> by {silence.actor}</span>
                </li>)}
            </ul>
            {silences?.length === 0 && <Empty title="No silence holds."
                command="belfry silence 'queue_old:*' --for 2h --reason 'the printer is being moved'">
                Before work on a machine, or while a known matter is mended: alerts of a key, or of all keys that begin
                so, are kept and not sent.
            </Empty>}
            {adding && <SilenceForm of="" onClose={() => add(false)} done={() => add(false)} />}
        </>
    )
}

export function SilenceForm({ of, onClose, done }: { of: string, onClose: () => void, done: () => void }) {
    const [key, setKey] = useState(of)
    const [length, setLength] = useState('1h')
    const [until, setUntil] = useState('')
    const [reason, setReason] = useState('')
    const [problem, setProblem] = useState<Problem | null>(null)
    const end = Date.parse(until) // of the browser's own zone, as such a field is
    const isTimed = length !== 'until'
    const submit = async () => {
        try {
            const made = await api.post<Silence>('/alerts/silences', {
                key, ...(isTimed ? { for: length } : { until: new Date(end).toISOString() }), reason: reason || null,
            })
            touches.forEach(reloadAll)
            toast(`${made.key} is silenced until ${exact(Date.parse(made.until), pickZone(zoneChoice.value))}.`,
                { undo: () => void lift(made) })
            done()
        } catch (why) {
            setProblem(problemOf(why))
        }
    }
    return (
        <Dialog title="Silence alerts" onClose={onClose}>
            <form class="stack" onSubmit={event => { event.preventDefault(); void submit() }}>
                <Field name="Key" value={key} onInput={setKey} mono required autofocus={!of}
                    hint={<>Of one matter, or the beginning of several with <code>*</code> behind it.</>} />
                <Field name="How long" value={length} onInput={setLength} choices={lengths} />
                {!isTimed && <Field name={`Until (${myZone()})`} kind="datetime-local" value={until} onInput={setUntil}
                    required hint={Number.isNaN(end) ? undefined : exact(end, 'UTC')} />}
                <Field name="Reason" value={reason} onInput={setReason} autofocus={!!of}
                    hint="Others see it. May be left empty." />
                {problem && <ProblemBox problem={problem} />}
                <div class="dialog-buttons">
                    <button class="button" type="button" onClick={onClose}>Leave it</button>
                    <button class="button main" type="submit"
                        disabled={!key.trim() || (!isTimed && Number.isNaN(end))}>Silence 1 key</button>
                </div>
            </form>
        </Dialog>
    )
}
