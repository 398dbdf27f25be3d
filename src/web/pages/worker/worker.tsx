// One worker: what it runs, what it takes, and whether it gets more.
import { useState } from 'preact/hooks'
import type { WorkerWhole } from 'openapi'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { part, printQuery } from '../../base/query'
import { Dialog } from '../../parts/ask/dialog'
import { Field } from '../../parts/ask/field'
import { Empty } from '../../parts/show/empty'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import type { PageProps } from '../../base/router'
import { useTitle } from '../../base/title'
import { cordonWorker, drainWorker, uncordonWorker } from '../common/workerdeeds'
import { Slots } from '../workers/slots'
import { Runs } from './runs'

const EVERY_MS = 2000
const REASON_MAX = 400

export default function WorkerPage({ params }: PageProps) {
    const { id } = params
    const { data, problem, at, reload } = useResource<WorkerWhole>(`/workers/${part(id)}`, {}, { every: EVERY_MS })
    useTitle(data?.name ?? 'Worker')
    const isGone = problem?.status === 404
    return (
        <div class="stack">
            <div class="row spread">
                <span class="row"><h1 tabIndex={-1} style={{ overflowWrap: 'anywhere' }}>
                    <span class="soft">Worker</span> {data?.name ?? <Id id={id} />}</h1>
                {data && !isGone && <Status state={data.status} />}</span>
                {data && !isGone && <Actions worker={data} />}
            </div>
            {isGone ? <Empty title="This worker is not known any more.">
                A worker that was silent for a while is forgotten. <a href={
                    `/executions${printQuery({ worker: id })}`}>What it ran</a> stays on record.
            </Empty> : <OldData problem={problem} at={at} retry={() => void reload()} />}
            {data && !isGone && <>
                <p>{sentenceOf(data)} {data.cordoned_at && <>It gets nothing new since <Time at={data.cordoned_at}
                /> ({data.cordoned_by}{data.cordon_reason && <>: {data.cordon_reason}</>}).</>}</p>
                <div class="row"><Slots worker={data} />
                    <a href={`/executions${printQuery({ worker: id })}`}>what it ran before</a>
                    <a href={`/timeline${printQuery({ by: 'worker', worker: id })}`}>its timeline</a></div>
                <Runs worker={data} isOld={problem !== null} />
                <Facts worker={data} />
            </>}
        </div>
    )
}

function sentenceOf({ executions, free, status }: WorkerWhole): string {
    const runs = executions.length === 0 ? 'It runs nothing' : `It runs ${count(executions.length, 'execution')}`
    const rest = { active: `and could take ${count(free, 'more', 'more')}`, cordoned: 'and is cordoned',
        draining: 'and leaves when that has ended', away: 'as far as is known; it has missed its polls' }[status]
    return `${runs}, ${rest}.`
}

function Facts({ worker }: { worker: WorkerWhole }) {
    const rows = [
        ['Serves', worker.queues.length === 0 ? 'all queues'
            : worker.queues.map((queue, i) => <>{i > 0 && ', '}<a href={`/queues/${part(queue)}`}>{queue}</a></>)],
        ['Commands', worker.commands ? 'runs them' : 'does not run them'],
        ['Handlers', worker.handlers.join(', ') || 'none'],
        ['Registered', <Time at={worker.registered_at} />],
        ['Heard', <Time at={worker.seen_at} />],
        ['Id', <Id id={worker.worker_id} />],
    ] as const
    return (
        <section class="panel">
            <h2>What it is</h2>
            <ul class="list">
                {rows.map(([name, value]) => <li key={name} class="row spread">
                    <span class="soft">{name}</span><span>{value}</span></li>)}
            </ul>
        </section>
    )
}

function Actions({ worker }: { worker: WorkerWhole }) {
    const [asking, ask] = useState(false)
    const [reason, setReason] = useState('')
    const isCordoned = worker.cordoned_at !== null
    const cordon = async () => {
        ask(false)
        if (await cordonWorker(worker, reason.trim()))
            setReason('')
    }
    return (
        <span class="row">
            {isCordoned ? may('POST', '/workers/{}/uncordon') && <button class="button main" type="button"
                onClick={() => void uncordonWorker(worker)}>Uncordon</button>
                : may('POST', '/workers/{}/cordon') && <button class="button" type="button"
                    onClick={() => ask(true)}>Cordon …</button>}
            {may('POST', '/workers/{}/drain') && <button class="button danger" type="button"
                disabled={worker.draining} onClick={() => void drainWorker(worker)}>
                {worker.draining ? 'Draining' : 'Drain …'}</button>}
            {asking && <Dialog title={`Cordon ${worker.name}?`} onClose={() => ask(false)}>
                <form class="stack" onSubmit={event => { event.preventDefault(); void cordon() }}>
                    <p>It gets nothing new; what it runs goes on.</p>
                    <Field name="Reason" value={reason} onInput={text => setReason(text.slice(0, REASON_MAX))} autofocus
                        hint="Others see it. May be left empty." />
                    <div class="dialog-buttons">
                        <button class="button" type="button" onClick={() => ask(false)}>Leave it</button>
                        <button class="button main" type="submit">Cordon 1 worker</button>
                    </div>
                </form>
            </Dialog>}
        </span>
    )
}
