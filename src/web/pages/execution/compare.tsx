// An execution beside the last good run of its job before it: what was another definition, worker, payload, duration
// or output.
import './compare.css'
import type { Execution, ExecutionSummary, JobVersion, WorkerList } from 'openapi'
import { Loaded, useResource } from '../../api/resource'
import { may } from '../../api/session'
import { duration } from '../../base/format'
import { part, printQuery } from '../../base/query'
import { query } from '../../base/router'
import { parse } from '../../base/when'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { differences } from '../job/differences'
import { Differences } from '../job/versions'
import { factsOf, Known, versionOf } from './comparefacts'
import { CompareOutput } from './compareoutput'

type Found = { executions: ExecutionSummary[], next_cursor: string | null }

function FactsTable({ one, good, known }: { one: Execution, good: Execution, known: Known }) {
    return (
        <div class="compare-facts" tabIndex={0} role="region" aria-label="Facts of both"><table>
            <thead><tr>
                <th scope="col"><span class="hidden-text">Fact</span></th>
                <th scope="col">This one</th>
                <th scope="col"><a href={`/executions/${good.execution_id}/compare${
                    printQuery({ with: one.execution_id })}`}>{good.status === 'completed' ? 'The good one'
                    : 'The other one'}</a></th>
            </tr></thead>
            <tbody>{factsOf(one, good, known).map(fact => <tr key={fact.name} class={fact.differs ? 'is-other' : ''}>
                <th scope="row">{fact.name}{fact.differs && <span class="hidden-text"> differs</span>}</th>
                <td>{fact.of(one)}{fact.note && <span class="soft"> {fact.note}</span>}</td>
                <td>{fact.of(good)}</td>
            </tr>)}</tbody>
        </table></div>
    )
}

function Changed({ one, good, known: { versions } }: { one: Execution, good: Execution, known: Known }) {
    const [mine, its] = [versionOf(one, versions), versionOf(good, versions)]
    if (!mine || !its || mine.version === its.version)
        return null
    return (
        <section class="panel">
            <h2>What was changed <a class="soft small" href={`/jobs/${one.job_id}/versions`}>
                from version {its.version} to {mine.version}</a></h2>
            <Differences list={differences(its.document, mine.document)} />
        </section>
    )
}

function sentence(one: Execution, good: Execution, known: Known): string {
    const others = factsOf(one, good, known).filter(fact => fact.differs && fact.name !== 'State')
    const away = (parse(one.started_at) ?? 0) - (parse(good.started_at) ?? 0)
    const which = good.status === 'completed' ? 'good' : 'other'
    return `The ${which} run began ${duration(Math.abs(away))} ${away >= 0 ? 'before' : 'after'} it. ` +
        (others.length === 0 ? 'Definition, payload, worker and duration are the same.'
            : `It differs in: ${others.map(fact => fact.name.toLowerCase()).join(', ')}.`)
}

function Beside({ one, id }: { one: Execution, id: string }) {
    const good = useResource<Execution>(`/executions/${part(id)}`)
    const versions = useResource<{ versions: JobVersion[] }>(`/jobs/${part(one.job_id)}/versions`)
    const workers = useResource<WorkerList>(may('GET', '/workers') ? '/workers' : null)
    const known = { versions: versions.data?.versions ?? [], workers: workers.data?.workers ?? [] }
    return (
        <div class="stack">
            <OldData problem={good.problem} at={good.at} retry={() => void good.reload()} />
            <OldData problem={versions.problem} at={versions.at} retry={() => void versions.reload()} />
            {good.data && versions.data && <>
                <p>{sentence(one, good.data, known)}</p>
                <FactsTable one={one} good={good.data} known={known} />
                <Changed one={one} good={good.data} known={known} />
            </>}
            {good.data && <CompareOutput one={one} good={good.data} />}
        </div>
    )
}

/** The newest that was over when this one began. */
function useLastGood(one: Execution, asked: string | null): Loaded<Found> {
    return useResource<Found>(asked ? null : `/jobs/${part(one.job_id)}/executions`, {
        status: 'completed', finished_before: one.started_at ?? one.finished_at ?? one.created_at, limit: 1,
        fields: 'execution_id',
    })
}

export function Compare({ one }: { one: Execution }) {
    const asked = query.value.get('with')
    const found = useLastGood(one, asked)
    const id = asked ?? found.data?.executions[0]?.execution_id
    if (id)
        return <Beside key={id} one={one} id={id} />
    if (!found.data)
        return <OldData problem={found.problem} at={found.at} retry={() => void found.reload()} />
    return <Empty title="No run of this job succeeded before this one.">
        {found.data.next_cursor ? 'None of its newest runs, that is: older ones were not looked through. ' : ''}
        <a href={`/jobs/${one.job_id}/executions`}>All runs of this job</a>
    </Empty>
}
