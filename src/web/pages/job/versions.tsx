// The definitions that a job has had: who made each, what it changed, and the way back to it.
import './versions.css'
import type { Job, JobEdited, JobVersion } from 'openapi'
import { api } from '../../api/client'
import { reloadAll, useResource } from '../../api/resource'
import { may } from '../../api/session'
import { query, setQuery } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { Field } from '../../parts/ask/field'
import { toast } from '../../parts/ask/toast'
import { OldData } from '../../parts/show/problem'
import { Time } from '../../parts/show/time'
import { refused } from '../common/act'
import type { Document } from '../definition/document'
import { Difference, differences } from './differences'
import { isOver } from './words'

/** Gives a job a definition again that it has had; `version` is the one that is replaced by it. */
async function rollBack(jobId: string, to: number, version: number): Promise<JobEdited> {
    const made = await api.post<JobEdited>(`/jobs/${jobId}/rollback`, { version: to },
        { ifMatch: `"${version}"` })
    reloadAll(`/jobs/${jobId}`)
    return made
}

/** For ten seconds after an edit: back to the version before. */
export function offerUndo(jobId: string, said: string, made: JobEdited, before: number): void {
    const undo = () => void rollBack(jobId, before, made.version!).then(
        () => toast(`Version ${before} again.`), refused)
    toast(said, { undo })
}

async function ask(job: Job, to: JobVersion, now: Document): Promise<void> {
    const changes = differences(now, to.document)
    const yes = await confirm({
        title: `Roll back to version ${to.version}?`, action: `Roll back to version ${to.version}`,
        text: <><p>This makes a new version that is the same as {to.version}:</p><Differences list={changes} /></>,
    })
    if (!yes)
        return
    await rollBack(job.job_id, to.version, job.version).then(
        made => offerUndo(job.job_id, `Version ${made.version} is as ${to.version} was.`, made, job.version), refused)
}

export function Differences({ list }: { list: readonly Difference[] }) {
    if (list.length === 0)
        return <p class="soft">No difference.</p>
    return (
        <ul class="versions-list">
            {list.map(one => <li key={one.path}>
                <code class="versions-path">{one.path}</code>
                {one.before !== undefined && <del class="mono"><span class="hidden-text">was </span>{one.before}</del>}
                {one.after !== undefined && <ins class="mono"><span class="hidden-text">is </span>{one.after}</ins>}
            </li>)}
        </ul>
    )
}

export function Versions({ job }: { job: Job }) {
    const { data, problem, at, reload } = useResource<{ versions: JobVersion[] }>(`/jobs/${job.job_id}/versions`, {},
        { every: 10_000, on: { job: [job.job_id] } })
    const list = data?.versions ?? []
    const toNow = query.value.get('against') === 'now'
    const now = list[0]?.document
    return (
        <div class="stack">
            <OldData problem={problem} at={at} retry={reload} />
            {list.length > 1 && <div class="row"><Field name="Compare each with" value={toNow ? 'now' : 'before'}
                onInput={value => setQuery({ against: value === 'now' ? 'now' : null }, { replace: true })}
                choices={[{ value: 'before', name: 'the one before' }, { value: 'now', name: 'the current one' }]} />
            </div>}
            {list.map((one, i) => {
                const other = toNow ? now : list[i + 1]?.document
                return <section key={one.version} class="panel">
                    <div class="row spread">
                        <h2>Version {one.version}{one.version === job.version && ', the current one'}</h2>
                        <span class="row soft">
                            {one.actor ? `by ${one.actor}` : 'by whom is not known'} <Time at={one.at} />
                            {one.version !== job.version && !isOver(job) && may('POST', '/jobs/{}/rollback') &&
                                <button class="button" type="button"
                                    onClick={() => void ask(job, one, now!)}>Roll back to it …</button>}
                        </span>
                    </div>
                    {other ? <Differences list={toNow ? differences(one.document, other)
                        : differences(other, one.document)} />
                        : <p class="soft">{one.version === 1 ? 'As it was submitted.'
                            : 'The one before it is not kept.'}</p>}
                </section>
            })}
        </div>
    )
}
