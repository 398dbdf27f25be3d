// One action on many things: counted first, confirmed with the number, carried out by the servers as an operation
// whose progress is shown, with what was refused and why.
import './bulk.css'
import { useEffect, useState } from 'preact/hooks'
import type { ActionCount, Operation } from 'openapi'
import { api, newKey } from '../../api/client'
import { reloadAll, useResource } from '../../api/resource'
import { count, number } from '../../base/format'
import { part, Query } from '../../base/query'
import { confirm } from '../../parts/ask/confirm'
import { toast } from '../../parts/ask/toast'
import { refused } from './act'

export interface Deed {
    action?: string // of the call; absent: its path says it
    verb: string // "Pause"
    done: string // "paused"
    danger?: boolean
    /** What follows, in the question. */
    meaning: string
}

/** `ids`, or what fits the filter; a filter that restricts nothing means all. */
export interface Targets { ids?: string[], filter?: Query }

function bodyOf(deed: Deed, { ids, filter }: Targets): Record<string, unknown> {
    const action = deed.action === undefined ? {} : { action: deed.action }
    if (ids)
        return { ...action, ids }
    const isAll = Object.keys(filter ?? {}).length === 0
    if (isAll)
        return { ...action, all: true }
    // Few parameters may be lists, and of an address all are: a list of one is that one.
    return { ...action, filter: Object.fromEntries(Object.entries(filter!).map(([name, value]) =>
        [name, Array.isArray(value) && value.length === 1 ? value[0] : value])) }
}

/** Of those that were listed, by their ids. */
export type Names = ReadonlyMap<string, string | null | undefined>

function One({ id, names }: { id: string, names?: Names }) {
    const name = names?.get(id)
    return <a href={`/${id.startsWith('job_') ? 'jobs' : 'executions'}/${part(id)}`} title={id}>
        {name ? <bdi>{name}</bdi> : <code>{id}</code>}</a>
}

/** Which, as far as a question has room. */
function First({ fit, names }: { fit: ActionCount, names?: Names }) {
    const first = fit.first ?? [] // of dead letters none are told
    if (first.length === 0)
        return null
    return (
        <ul class="bulk-first">
            {first.map(id => <li key={id}><One id={id} names={names} /></li>)}
            {fit.count > first.length && <li class="soft">
                and {fit.at_least && 'at least '}{number(fit.count - first.length)} more</li>}
        </ul>
    )
}

/** Asks, and begins. Null when it was not wanted, or refused: that has been told then. */
export async function begin(path: string, thing: string, deed: Deed, targets: Targets, names?: Names):
    Promise<Operation | null> {
    const body = bodyOf(deed, targets)
    try {
        const fit = await api.post<ActionCount>(path, { ...body, dry_run: true })
        const many = `${fit.at_least ? 'at least ' : ''}${count(fit.count, thing)}`
        if (fit.count === 0) {
            toast(`There is no ${thing} that this would change.`)
            return null
        }
        const yes = await confirm({
            title: `${deed.verb} ${many}?`, action: `${deed.verb} ${many}`, danger: deed.danger,
            text: <><p>{deed.meaning}</p><First fit={fit} names={names} /></>,
        })
        return yes ? await api.post<Operation>(path, body, { idempotencyKey: newKey() }) : null
    } catch (why) {
        refused(why)
        return null
    }
}

/** How far it has come, until it is closed. `touches` begins the paths of what it changes. */
export function Progress({ operation, deed, names, touches, onClose }: {
    operation: Operation, deed: Deed, names?: Names, touches: string, onClose: () => void,
}) {
    const [over, setOver] = useState(false)
    const { data, problem, set } = useResource<Operation>(`/operations/${operation.operation_id}`, {},
        { every: over ? undefined : 700 })
    const now = data ?? operation
    useEffect(() => {
        if (now.status !== 'running') {
            setOver(true)
            reloadAll(touches)
        }
    }, [now.status])
    const stop = () => void api.post<Operation>(`/operations/${operation.operation_id}/cancel`).then(set, refused)
    const all = now.total ?? now.ids ?? null
    const refusals = now.refusals ?? []
    return (
        <section class="bulk panel" aria-label="Operation">
            <div class="row spread">
                <strong role="status">
                    {number(now.done)}{all !== null && ` of ${number(all)}`} {deed.done}
                    {now.refused > 0 && `, ${number(now.refused)} refused`}
                    {now.status === 'cancelled' && '; stopped'}
                </strong>
                <span class="row">
                    {now.status === 'running' && <button class="button" type="button" onClick={stop}>Stop here</button>}
                    <button class="button plain" type="button" onClick={onClose}>
                        {now.status === 'running' ? 'Hide' : 'Close'}</button>
                </span>
            </div>
            {all !== null && now.status === 'running' &&
                <progress aria-label="Progress" max={Math.max(all, 1)} value={now.done + now.refused} />}
            {problem && <p class="soft">{problem.detail}</p>}
            {refusals.length > 0 && <ul class="bulk-refusals">
                {refusals.map(({ id, detail }) => <li key={id}><One id={id} names={names} /> {detail}</li>)}
            </ul>}
        </section>
    )
}
