// Filters under a name, kept by the browser.
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { recall, remember } from '../../base/keep'
import { address, go } from '../../base/router'
import { Dialog } from '../../parts/ask/dialog'
import { Field } from '../../parts/ask/field'
import { Menu } from '../../parts/ask/menu'
import { toast } from '../../parts/ask/toast'

interface View { name: string, search: string }

const given: View[] = [
    { name: 'All', search: '' },
    { name: 'Failed', search: '?status=failed' },
    { name: 'Paused', search: '?status=paused' },
    { name: 'Running now', search: '?phase=running&phase=retrying' },
]
const saved = signal<View[]>(recall('jobs.views', []))

const keep = (views: View[]) => {
    saved.value = views
    remember('jobs.views', views)
}

function remove(view: View): void {
    const before = saved.value
    keep(before.filter(one => one !== view))
    toast(`The view ${view.name} is gone.`, { undo: () => keep(before) })
}

export function Views() {
    const [naming, setNaming] = useState(false)
    const [name, setName] = useState('')
    const { search } = address.value
    const current = [...given, ...saved.value].find(view => view.search === search)
    const mine = saved.value.find(view => view.search === search)
    const save = () => {
        keep([...saved.value.filter(view => view.name !== name), { name, search }])
        setNaming(false)
        setName('')
    }
    return (
        <>
            <Menu label={current ? current.name : 'Views'} title="Filters under a name" items={[
                ...[...given, ...saved.value].map(view => ({
                    name: view.name, chosen: view === current, run: () => go('/jobs' + view.search),
                })),
                ...(current ? [] : [{ name: 'Save this view …', run: () => setNaming(true) }]),
                ...(mine ? [{ name: `Remove ${mine.name}`, danger: true, run: () => remove(mine) }] : []),
            ]} />
            {naming && <Dialog title="Save this view" onClose={() => setNaming(false)}>
                <form class="stack" onSubmit={event => { event.preventDefault(); save() }}>
                    <Field name="Name" value={name} onInput={setName} required autofocus
                        hint="It is kept in this browser. Its address can be sent to others." />
                    <div class="dialog-buttons">
                        <button class="button" type="button" onClick={() => setNaming(false)}>Leave it</button>
                        <button class="button main" type="submit" disabled={!name.trim()}>Save</button>
                    </div>
                </form>
            </Dialog>}
        </>
    )
}
