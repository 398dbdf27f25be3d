// Saying that one looks after alerts, with a note for the others.
import { useState } from 'preact/hooks'
import { api } from '../../api/client'
import { count } from '../../base/format'
import { Dialog } from '../../parts/ask/dialog'
import { Field } from '../../parts/ask/field'
import type { EachDeed } from '../common/each'

const NOTE_MAX = 1000

export const acknowledging = (note: string): EachDeed => ({
    verb: 'Acknowledge', done: 'acknowledged', touches: '/alerts', meaning: '',
    call: id => api.post(`/alerts/${id}/ack`, note ? { note } : undefined),
})

export function Acknowledge({ alerts, onClose, done }: {
    alerts: number, onClose: () => void, done: (note: string) => void,
}) {
    const [note, setNote] = useState('')
    const many = count(alerts, 'alert')
    return (
        <Dialog title={`Acknowledge ${many}?`} onClose={onClose}>
            <form class="stack" onSubmit={event => { event.preventDefault(); done(note.trim()) }}>
                <p>You look after {alerts === 1 ? 'it' : 'them'}. What waits to be sent is not sent any more; the next
                    alert of the same matter is raised all the same.</p>
                <Field name="Note" value={note} onInput={text => setNote(text.slice(0, NOTE_MAX))} autofocus
                    hint="Others see it. May be left empty." />
                <div class="dialog-buttons">
                    <button class="button" type="button" onClick={onClose}>Leave it</button>
                    <button class="button main" type="submit">Acknowledge {many}</button>
                </div>
            </form>
        </Dialog>
    )
}
