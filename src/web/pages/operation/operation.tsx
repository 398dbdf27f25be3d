// One operation: how far it has come, what it is about, and what was refused.
import './operation.css'
import type { Operation as Doc } from 'openapi'
import { useResource } from '../../api/resource'
import { count } from '../../base/format'
import { part } from '../../base/query'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'
import type { PageProps } from '../../base/router'
import { mayStop, stop } from '../operations/stop'
import { all, placeOf, sentence, targets, title } from '../operations/words'
import { useTitle } from '../../base/title'

const EVERY_MS = 700

function Refusals({ operation }: { operation: Doc }) {
    const { refusals = [], refused } = operation
    if (refused === 0)
        return null
    return (
        <section>
            <h2>Refused <span class="soft">{refusals.length < refused && `the first ${refusals.length} of `}
                {count(refused, 'thing')}</span></h2>
            <ul class="operation-refusals">{refusals.map(({ id, detail }) => <li key={id} class="row">
                <Id id={id} href={placeOf(id) ?? undefined} /><span>{detail}</span></li>)}</ul>
        </section>
    )
}

function Body({ operation }: { operation: Doc }) {
    const many = all(operation)
    const came = operation.done + operation.refused
    return (
        <>
            <p class={`lead${operation.refused > 0 ? ' hue-bad' : ''}`} role="status">{sentence(operation)}</p>
            {many !== null && <progress class="operation-progress" aria-label="Progress" max={Math.max(many, 1)}
                value={Math.min(came, many)} />}
            <dl class="operation-facts">
                <dt>About</dt><dd>{targets(operation)}</dd>
                <dt>By</dt><dd>{operation.actor}</dd>
                <dt>Begun</dt><dd><Time at={operation.created_at} exactly /></dd>
                {operation.finished_at && <>
                    <dt>Ended</dt><dd><Time at={operation.finished_at} exactly />, after <Duration
                        ms={Date.parse(operation.finished_at) - Date.parse(operation.created_at)} /></dd></>}
                <dt>Id</dt><dd><Id id={operation.operation_id} /></dd>
            </dl>
            <Refusals operation={operation} />
        </>
    )
}

export default function Operation({ params }: PageProps) {
    const { data, problem, at, reload } = useResource<Doc>(`/operations/${part(params.id)}`, {}, { every: EVERY_MS })
    useTitle(data ? title(data) : 'Operation')
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1}><a href="/operations">Operations</a> / {data ? title(data) : params.id}
                    {data && <> <Status state={data.status} /></>}</h1>
                {data && mayStop(data) && <button class="button danger" type="button"
                    onClick={() => void stop(data)}>Stop …</button>}
            </div>
            <OldData problem={problem} at={at} retry={reload} />
            {data && <Body operation={data} />}
        </div>
    )
}
