// One calendar: when jobs are not to run, and the form that changes it.
import { useState } from 'preact/hooks'
import type { Calendar as CalendarDoc } from 'openapi'
import { api } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { reloadAll, useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { part } from '../../base/query'
import { go } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { toast } from '../../parts/ask/toast'
import { Code } from '../../parts/show/code'
import { Id } from '../../parts/show/id'
import { OldData, ProblemBox } from '../../parts/show/problem'
import { Time } from '../../parts/show/time'
import type { PageProps } from '../../base/router'
import { useTitle } from '../../base/title'
import { policies, Warnings } from '../calendars/calendars'
import { Form } from '../calendars/form'

/** Why it was refused, if it was. */
async function remove({ name }: CalendarDoc): Promise<Problem | null> {
    const yes = await confirm({
        title: `Delete the calendar ${name}?`, action: `Delete ${name}`, danger: true,
        text: 'It is refused, and some of them are named, while jobs go by it: put an empty calendar in its place to ' +
            'let them run. This cannot be undone.',
    })
    try {
        if (yes) {
            await api.delete(`/calendars/${part(name)}`)
            reloadAll('/calendars')
            toast(`The calendar ${name} is gone.`)
            go('/calendars', { replace: true })
        }
        return null
    } catch (why) {
        return problemOf(why)
    }
}

/** Those who go by it, as far as the refusal names them. */
function Refusal({ problem }: { problem: Problem }) {
    const jobs = [...new Set(problem.detail.match(/job_\w+/g))]
    return (
        <>
            <ProblemBox problem={problem} />
            {jobs.length > 0 && <p class="row">Go by it: {jobs.map(job =>
                <Id key={job} id={job} href={`/jobs/${job}`} />)}</p>}
        </>
    )
}

export default function Calendar({ params }: PageProps) {
    const { name } = params
    useTitle(name)
    const [puts, setPuts] = useState(0)
    const [refusal, setRefusal] = useState<Problem | null>(null)
    const { data, problem, at, reload } = useResource<CalendarDoc>(`/calendars/${part(name)}`)
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1} style={{ overflowWrap: 'anywhere' }}><span class="soft">Calendar</span> {name}</h1>
                {data && may('DELETE', '/calendars/{}') && <button class="button danger" type="button"
                    onClick={async () => setRefusal(await remove(data))}>Delete …</button>}
            </div>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {refusal && <Refusal problem={refusal} />}
            {data && <>
                <p>Of {count(data.entry_count, 'entry', 'entries')}: {policies[data.policy].meaning}.{' '}
                    <span class="soft">Version {data.version}, put <Time at={data.changed_at} /> by {
                        data.changed_by}.</span></p>
                <Warnings calendar={data} />
                {may('PUT', '/calendars/{}') && <section class="panel">
                    <h2>What it has</h2>
                    <Form key={`${name} ${puts}`} calendar={data} done={async put => {
                        toast(`${name} is in place, version ${put.version}.`)
                        await reload()
                        setPuts(puts + 1) // a form of what it is now
                    }} />
                </section>}
                <details><summary>As a document</summary>
                    <Code text={JSON.stringify(data.document ?? {}, null, 2)} label="document" /></details>
            </>}
        </div>
    )
}
