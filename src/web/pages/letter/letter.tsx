// One dead letter: why it failed for good, its attempts, and running it again, also with another payload.
import { useState } from 'preact/hooks'
import type { DeadLetterWithExecution, ExecutionRetried, Job } from 'openapi'
import { api, newKey } from '../../api/client'
import { reloadAll, useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { part } from '../../base/query'
import { go } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { toast } from '../../parts/ask/toast'
import { Code } from '../../parts/show/code'
import { Empty } from '../../parts/show/empty'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import type { PageProps } from '../../base/router'
import { useTitle } from '../../base/title'
import { act, refused } from '../common/act'
import { Attempts } from './attempts'
import { PayloadForm } from './payload'
import { reasons } from './reasons'

/** Runs it again and goes to the new execution. */
async function runAgain(id: string, body: { payload?: unknown }, key: string): Promise<void> {
    try {
        const made = await api.post<ExecutionRetried>(`/dead-letters/${id}/retry`, body, { idempotencyKey: key })
        reloadAll('/dead-letters')
        toast('It runs again.', { link: { name: 'Back to the dead letters', href: '/dead-letters' } })
        go(`/executions/${made.execution_id}`)
    } catch (why) {
        refused(why)
    }
}

async function discard(letter: DeadLetterWithExecution): Promise<void> {
    const yes = await confirm({
        title: 'Discard this dead letter?', action: 'Discard 1 dead letter', danger: true,
        text: <p>It is taken off the list. Its history stays. This cannot be undone.</p>,
    })
    if (yes && await act(() => api.delete(`/dead-letters/${letter.execution_id}`), {
        said: 'The dead letter is discarded.', touches: ['/dead-letters'],
    }))
        go('/dead-letters', { replace: true })
}

export default function Letter({ params }: PageProps) {
    const { id } = params
    const { data, problem, at, reload } = useResource<DeadLetterWithExecution>(`/dead-letters/${part(id)}`)
    useTitle(data?.name ?? 'Dead letter')
    if (problem?.status === 404)
        return <div class="stack"><h1 tabIndex={-1}>Dead letter <Id id={id} /></h1>
            <Empty title="This is no dead letter any more.">
                It was run again or discarded, or it is too long ago. <a href={`/executions/${part(id)}`}>The execution
                </a> tells what became of it.
            </Empty></div>
    return (
        <div class="stack">
            <div class="row">
                <h1 tabIndex={-1} class="letters-text">{data?.name ?? 'Dead letter'}</h1>
                {data && <Status state={data.status} />}
            </div>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {data && <>
                <p class="letters-text">It failed for good <Time at={data.died_at} /> after {
                    count(data.attempt_count, 'attempt')}
                {data.lost_count > 0 && `, ${data.lost_count} of them lost`}: {data.error ?? 'nobody knows why'}.{' '}
                <span class="soft">{reasons[data.reason].why}</span></p>
                <p class="row">
                    <Id id={id} href={`/executions/${id}`} /> <a href={`/executions/${id}/output`}>its output</a>
                    <a href={`/jobs/${data.job_id}`}>its job</a>
                    <a href={`/queues/${part(data.queue)}`}>queue {data.queue}</a>
                    {data.fingerprint &&
                        <a href={`/dead-letters?fingerprint=${data.fingerprint}`}>what failed alike</a>}
                </p>
                <Deeds letter={data} />
                <Attempts attempts={data.execution.attempts} />
            </>}
        </div>
    )
}

function Deeds({ letter }: { letter: DeadLetterWithExecution }) {
    const [key, renew] = useState(newKey)
    const [changing, change] = useState(false)
    const job = useResource<Job>(`/jobs/${letter.job_id}`)
    const payload = letter.execution.payload ?? job.data?.payload ?? null
    const again = async (body: { payload?: unknown }) => {
        await runAgain(letter.execution_id, body, key)
        renew(newKey) // another wish is another call
    }
    const ask = async () => {
        if (await confirm({ title: 'Run it again?', action: 'Retry 1 dead letter',
            text: <p>A new execution with the payload that this one had. The letter is gone then.</p> }))
            await again({})
    }
    return (
        <section class="panel stack">
            <div class="row">
                {may('POST', '/dead-letters/{}/retry') && <>
                    <button class="button main" type="button" onClick={() => void ask()}>Retry …</button>
                    <button class="button" type="button" aria-expanded={changing}
                        onClick={() => change(!changing)}>Retry with another payload …</button>
                </>}
                {may('DELETE', '/dead-letters/{}') && <button class="button danger" type="button"
                    onClick={() => void discard(letter)}>Discard …</button>}
            </div>
            {changing ? <PayloadForm before={payload} run={value => again({ payload: value })}
                leave={() => change(false)} />
                : <div><h2>Payload</h2>{payload === null ? <p class="soft">It has none.</p>
                    : <Code text={JSON.stringify(payload, null, 2)} label="payload" wrap />}</div>}
        </section>
    )
}
