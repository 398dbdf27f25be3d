// A job's definition, changed: the server is asked while one types, and told of the version that was begun with. When
// somebody else was quicker, the same change can be made to what they left.
import { useEffect, useState } from 'preact/hooks'
import type { Job, JobEdited } from 'openapi'
import { api } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { reloadAll } from '../../api/resource'
import { go } from '../../base/router'
import { toast } from '../../parts/ask/toast'
import { ProblemBox } from '../../parts/show/problem'
import { useCheck } from '../definition/check'
import { apply, Document, documentOf, hasLongNumber, patchOf, setsNull } from '../definition/document'
import { Editor, Written } from '../definition/editor'
import { differences } from './differences'
import { Differences, offerUndo } from './versions'

/** What an edit may say. */
function changeable(job: Job): Document {
    const { name: _, depends_on: __, ...document } = documentOf(job)
    return document
}

function refusalOf(base: Document, document: Document): string | null {
    if (setsNull(base, document))
        return 'An edit takes away what is null, so it cannot set a member to null.'
    return 'payload' in patchOf(base, document) && hasLongNumber(document.payload)
        ? 'A browser cannot carry whole numbers of more than 15 digits; edit this payload by the command line.' : null
}

function Change({ job, base, start, onRebase, reload }: {
    job: Job, base: { document: Document, version: number }, start: Document,
    onRebase: (patch: Document) => void, reload: () => Promise<void>,
}) {
    const [written, write] = useState<Written>({ document: start, errors: [] })
    const [tried, setTried] = useState<Problem | null>(null)
    const [busy, setBusy] = useState(false)
    const patch = written.document && patchOf(base.document, written.document)
    const refusal = written.document && refusalOf(base.document, written.document)
    const says = patch && !refusal && Object.keys(patch).length > 0 ? JSON.stringify(patch) : null
    const call = (query: { dry_run?: boolean }, signal?: AbortSignal) => api.patch<JobEdited>(`/jobs/${job.job_id}`,
        patch, { query, ifMatch: `"${base.version}"`, signal })
    const checked = useCheck(says, signal => call({ dry_run: true }, signal))
    const problem = tried ?? checked.problem
    useEffect(() => { // which version it is by now is to be told
        if (problem?.status === 412)
            void reload()
    }, [problem])
    const list = written.document ? differences(base.document, written.document) : []
    const isBehind = problem?.status === 412 || job.version !== base.version

    const save = async () => {
        setBusy(true)
        try {
            const made = await call({})
            reloadAll(`/jobs/${job.job_id}`)
            if (made.changed)
                offerUndo(job.job_id, `Version ${made.version}: ${made.changed_fields?.join(', ')}.`, made,
                    base.version)
            else
                toast('It was so already.')
            go(`/jobs/${job.job_id}/definition`)
        } catch (why) {
            setTried(problemOf(why))
        }
        setBusy(false)
    }
    return (
        <form class="form-beside" onSubmit={event => { event.preventDefault(); void save() }}>
            <Editor start={start} written={written} errors={problem?.errors ?? []} editing onChange={next => {
                write(next)
                setTried(null)
            }} />
            <aside class="stack">
                <div class="row">
                    <button class="button main" type="submit" disabled={busy || !says || isBehind}>
                        {busy ? 'Saving …' : `Save as version ${base.version + 1}`}</button>
                    <a class="button plain" href={`/jobs/${job.job_id}`}>Leave it</a>
                </div>
                <p class="soft" role="status">{checked.checking ? 'Asking the server …'
                    : checked.answer ? 'The server would take it.' : ''}</p>
                {isBehind && <div class="problem" role="alert">
                    <p>Somebody has changed this job meanwhile: it has version {job.version}, and you began
                        with {base.version}.</p>
                    <div><button class="button" type="button" onClick={() => void reload().then(
                        () => onRebase(patch ?? {}))}>Make my changes to the newest version</button></div>
                </div>}
                {problem && problem.status !== 412 && <ProblemBox problem={problem} />}
                {refusal && <p class="field-error">{refusal}</p>}
                <h2>What changes</h2>
                <Differences list={list} />
                <p class="soft small">What runs goes on as it was started. What waits follows the new definition.</p>
            </aside>
        </form>
    )
}

export function Edit({ job, reload }: { job: Job, reload: () => Promise<void> }) {
    const [base, setBase] = useState(() => ({ document: changeable(job), version: job.version, patch: {} as Document }))
    const [rebase, setRebase] = useState<Document | null>(null)
    if (rebase && job.version !== base.version) { // the newest one has come
        setBase({ document: changeable(job), version: job.version, patch: rebase })
        setRebase(null)
    }
    return <Change key={base.version} job={job} base={base} start={apply(base.document, base.patch)}
        onRebase={setRebase} reload={reload} />
}
