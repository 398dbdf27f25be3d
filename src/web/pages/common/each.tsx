// One action on many things that the API takes one by one: confirmed with the number, a few calls at a time, with
// progress, and with what was refused and why. It ends when the page is left; what was done by then stays done.
import './bulk.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from '../../api/problem'
import { reloadAll } from '../../api/resource'
import { count, number } from '../../base/format'
import { confirm } from '../../parts/ask/confirm'
import type { Deed } from './bulk'

export interface EachDeed extends Deed {
    call: (id: string) => Promise<unknown>
    touches: string
}

interface State { deed: EachDeed, all: number, done: number, refusals: { id: string, detail: string }[], over: boolean }

const AT_ONCE = 4
const REFUSALS_MAX = 100 // shown

export function useEach() {
    const [now, set] = useState<State | null>(null)
    const stopped = useRef(false)
    useEffect(() => () => { stopped.current = true }, [])

    /** `asked`: the page has confirmed it by a question of its own. */
    const run = async (deed: EachDeed, thing: string, ids: string[], { asked = false } = {}): Promise<boolean> => {
        const many = `${deed.verb} ${count(ids.length, thing)}`
        const question = { title: `${many}?`, text: <p>{deed.meaning}</p>, action: many, danger: deed.danger }
        if (!asked && !await confirm(question))
            return false
        const state: State = { deed, all: ids.length, done: 0, refusals: [], over: false }
        const line = [...ids]
        stopped.current = false
        set({ ...state })
        const pull = async () => {
            for (let id = line.shift(); id !== undefined && !stopped.current; id = line.shift()) {
                try {
                    await deed.call(id)
                    state.done++
                } catch (why) {
                    state.refusals.push({ id, detail: problemOf(why).detail })
                }
                set({ ...state })
            }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, pull))
        set({ ...state, over: true })
        reloadAll(deed.touches)
        return true
    }
    const shown = now && <section class="bulk panel" aria-label="Operation">
        <div class="row spread">
            <strong role="status">
                {number(now.done)} of {number(now.all)} {now.deed.done}
                {now.refusals.length > 0 && `, ${number(now.refusals.length)} refused`}
                {now.over && now.done + now.refusals.length < now.all && '; stopped'}
            </strong>
            {now.over
                ? <button class="button plain" type="button" onClick={() => set(null)}>Close</button>
                : <button class="button" type="button" onClick={() => { stopped.current = true }}>Stop here</button>}
        </div>
        {!now.over && <progress aria-label="Progress" max={now.all} value={now.done + now.refusals.length} />}
        {now.refusals.length > 0 && <ul class="bulk-refusals">
            {now.refusals.slice(0, REFUSALS_MAX).map(({ id, detail }) => <li key={id}><code>{id}</code> {detail}</li>)}
        </ul>}
    </section>
    return { run, shown }
}
