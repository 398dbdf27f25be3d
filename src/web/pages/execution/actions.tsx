// Actions on one execution: cancelling it, and running it again, with another payload if need be.
import { useState } from 'preact/hooks'
import type { Execution, ExecutionRetried } from 'openapi'
import { api, newKey } from '../../api/client'
import { Problem, problemOf } from '../../api/problem'
import { reloadAll } from '../../api/resource'
import { may } from '../../api/session'
import { go } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { Dialog } from '../../parts/ask/dialog'
import { Field } from '../../parts/ask/field'
import { Menu } from '../../parts/ask/menu'
import { toast } from '../../parts/ask/toast'
import { ProblemBox } from '../../parts/show/problem'
import { refused } from '../common/act'
import { json } from '../definition/command'
import { isOver } from '../executions/columns'

function repeated(answer: ExecutionRetried): void {
    reloadAll('/executions')
    toast('It runs again.', { link: { name: 'To the old one', href: `/executions/${answer.retry_of}` } })
    go(`/executions/${answer.execution_id}`)
}

const retry = (id: string, body: unknown, idempotencyKey: string) =>
    api.post<ExecutionRetried>(`/executions/${id}/retry`, body, { idempotencyKey })

function Payload({ execution, onClose }: { execution: Execution, onClose: () => void }) {
    const [text, setText] = useState(execution.payload === null ? '{}' : json(execution.payload))
    const [problem, setProblem] = useState<Problem | null>(null)
    const [key] = useState(newKey)
    let wrong: string | null = null
    let payload: unknown = null
    try {
        payload = JSON.parse(text)
    } catch (why) {
        wrong = why instanceof Error ? why.message : String(why)
    }
    const send = () => {
        retry(execution.execution_id, { payload }, key).then(answer => {
            onClose()
            repeated(answer)
        }, why => setProblem(problemOf(why)))
    }
    return (
        <Dialog title="Run it again with another payload" onClose={onClose}>
            <form class="stack" onSubmit={event => { event.preventDefault(); send() }}>
                <Field name="Payload" kind="area" mono value={text} onInput={setText} error={wrong} autofocus
                    hint="JSON. Its job keeps its own; retries of the new execution have this one." />
                {problem && <ProblemBox problem={problem} />}
                <div class="dialog-buttons">
                    <button class="button" type="button" onClick={onClose}>Leave it</button>
                    <button class="button main" type="submit" disabled={wrong !== null}>Run it again</button>
                </div>
            </form>
        </Dialog>
    )
}

export function Actions({ execution, name }: { execution: Execution, name: string }) {
    const [asking, ask] = useState(false)
    const { execution_id: id, status, stopping } = execution
    const cancel = async () => {
        const yes = await confirm({
            title: `Cancel this execution of ${name}?`, action: 'Cancel 1 execution', danger: true,
            text: <p>{status === 'running' ? 'Its command is told to stop, and is killed if it does not.'
                : 'It does not start.'} This cannot be undone.</p>,
        })
        if (yes)
            await api.post(`/executions/${id}/cancel`).then(() => reloadAll('/executions'), refused)
    }
    const repeat = async () => {
        const yes = await confirm({
            title: `Run this execution of ${name} again?`, action: 'Run 1 execution again',
            text: <p>A new execution does the same once more, now, with the same payload and slot.</p>,
        })
        if (yes)
            await retry(id, {}, newKey()).then(repeated, refused)
    }
    return (
        <span class="row">
            {isOver(status) && may('POST', '/executions/{}/retry') && <>
                <button class="button" type="button" onClick={() => void repeat()}>Retry …</button>
                <Menu label="More" end items={[{ name: 'Retry with another payload …', run: () => ask(true) }]} />
            </>}
            {!isOver(status) && !stopping && may('POST', '/executions/{}/cancel') &&
                <button class="button danger" type="button" onClick={() => void cancel()}>Cancel …</button>}
            {asking && <Payload execution={execution} onClose={() => ask(false)} />}
        </span>
    )
}
