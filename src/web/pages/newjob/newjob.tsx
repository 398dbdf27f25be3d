// A new job: a form that is checked while one types, with the same as a command line, a call and JSON beside it.
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Job, JobCreated } from 'openapi'
import { api, newKey } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { reloadAll, useResource } from '../../api/resource'
import { may } from '../../api/session'
import { duration } from '../../base/format'
import { parseDuration } from '../../base/duration'
import { part } from '../../base/query'
import { go, query } from '../../base/router'
import { toast } from '../../parts/ask/toast'
import { Empty } from '../../parts/show/empty'
import { OldData, ProblemBox } from '../../parts/show/problem'
import { frequentText } from '../cron/frequent'
import { useCheck } from '../definition/check'
import { brief, Document, documentOf, isObject } from '../definition/document'
import { Editor, Written } from '../definition/editor'
import { Shown } from '../definition/shown'

/** Another job as the beginning of this one: its name is taken. */
function copied(job: Job): Document {
    const { name: _, ...document } = brief(documentOf(job))
    return document
}

function warningOf(document: Document | null): string | null {
    const every = isObject(document?.schedule) ? parseDuration(document.schedule.every) : null
    const timeout = parseDuration(document?.timeout)
    const frequent = every ? frequentText([0, every].map(ms => new Date(ms).toISOString())) : null
    if (frequent)
        return frequent
    if (every !== null && timeout !== null && timeout > every)
        return `A run may take ${duration(timeout)}, and the next one is due after ${duration(every)}.`
    return null
}

function Make({ start }: { start: Document }) {
    const [written, write] = useState<Written>({ document: start, errors: [] })
    const [tried, setTried] = useState<Problem | null>(null)
    const [busy, setBusy] = useState(false)
    const nobody = useMemo(() => newKey(), []) // a name that no job has, to ask about one without a name
    const key = useRef(newKey())
    const { document } = written
    const text = document && JSON.stringify(document)
    const hasWork = !!document && ('command' in document || 'handler' in document)
    const canAsk = hasWork && may('PUT', '/jobs/by-name/{}')
    const checked = useCheck(canAsk ? text : null, signal => {
        const { depends_on: _, idempotency_key: __, ...asked } = document!
        const name = typeof asked.name === 'string' && asked.name ? asked.name : nobody
        delete asked.name
        return api.put(`/jobs/by-name/${part(name)}`, asked,
            { query: { dry_run: true }, headers: { 'If-None-Match': '*' }, signal })
    })
    const problem = tried ?? checked.problem
    const errors = problem?.status === 412 ? [{ field: 'name', message: problem.detail }] : problem?.errors ?? []
    const warning = warningOf(document)

    const submit = async () => {
        setBusy(true)
        try {
            const made = await api.post<JobCreated>('/jobs', document, { idempotencyKey: key.current })
            reloadAll('/jobs')
            toast('Submitted.')
            go(`/jobs/${made.job_id}`)
        } catch (why) {
            setTried(problemOf(why))
        }
        setBusy(false)
    }
    return (
        <form class="form-beside" onSubmit={event => { event.preventDefault(); void submit() }}>
            <Editor start={start} written={written} errors={errors} onChange={next => {
                write(next)
                setTried(null)
                key.current = newKey() // another body is another submission
            }} />
            <aside class="stack">
                <button class="button main" type="submit" disabled={busy || !hasWork}>
                    {busy ? 'Submitting …' : 'Submit 1 job'}</button>
                <p class="soft" role="status">{!hasWork ? 'It needs something to run.'
                    : checked.checking ? 'Asking the server …'
                        : checked.answer ? 'The server would take it.' : ''}</p>
                {problem && <ProblemBox problem={problem} />}
                {warning && <p class="old-data">{warning}</p>}
                {document && hasWork && <>
                    <h2>The same in another way</h2>
                    <Shown document={document} otherwise="cli" />
                </>}
            </aside>
        </form>
    )
}

export default function NewJob() {
    const from = query.value.get('from')
    const { data, problem, at, reload } = useResource<Job>(from ? `/jobs/${part(from)}` : null)
    return (
        <div class="stack">
            <h1 tabIndex={-1}>New job {data && <span class="soft">as {data.name ?? data.job_id}</span>}</h1>
            <OldData problem={problem} at={at} retry={reload} />
            {!may('POST', '/jobs')
                ? <Empty title="Your key may not submit jobs.">Somebody with a role that may can do it.</Empty>
                : (!from || data) && <Make key={data?.job_id} start={data ? copied(data) : {}} />}
        </div>
    )
}
