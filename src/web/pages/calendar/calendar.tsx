// One calendar: when jobs are not to run, and the form that changes it.
import type { Calendar as CalendarDoc } from 'openapi'
import { api } from '../../api/client'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { part } from '../../base/query'
import { go } from '../../base/router'
import { confirm } from '../../parts/ask/confirm'
import { toast } from '../../parts/ask/toast'
import { Code } from '../../parts/show/code'
import { OldData } from '../../parts/show/problem'
import { Time } from '../../parts/show/time'
import type { PageProps } from '../../shell/routes'
import { useTitle } from '../../shell/page'
import { act } from '../common/act'
import { policies, Warnings } from '../calendars/calendars'
import { Form } from '../calendars/form'

async function remove({ name }: CalendarDoc): Promise<void> {
    const yes = await confirm({
        title: `Delete the calendar ${name}?`, action: `Delete ${name}`, danger: true,
        text: 'It is refused, and some of them are named, while jobs go by it: put an empty calendar in its place to ' +
            'let them run. This cannot be undone.',
    })
    if (yes && await act(() => api.delete(`/calendars/${part(name)}`),
        { said: `The calendar ${name} is gone.`, touches: ['/calendars'] }))
        go('/calendars', { replace: true })
}

export default function Calendar({ params }: PageProps) {
    const { name } = params
    useTitle(name)
    const { data, problem, at, reload } = useResource<CalendarDoc>(`/calendars/${part(name)}`)
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1} style={{ overflowWrap: 'anywhere' }}><span class="soft">Calendar</span> {name}</h1>
                {data && may('DELETE', '/calendars/{}') && <button class="button danger" type="button"
                    onClick={() => void remove(data)}>Delete …</button>}
            </div>
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {data && <>
                <p>Of {count(data.entry_count, 'entry', 'entries')}: {policies[data.policy].meaning}. <span class="soft">
                    Version {data.version}, put <Time at={data.changed_at} /> by {data.changed_by}.</span></p>
                <Warnings calendar={data} />
                {may('PUT', '/calendars/{}') && <section class="panel">
                    <h2>What it has</h2>
                    <Form key={data.version} calendar={data} done={put => {
                        void reload()
                        toast(`${name} is in place, version ${put.version}.`)
                    }} />
                </section>}
                <details><summary>As a document</summary>
                    <Code text={JSON.stringify(data.document ?? {}, null, 2)} label="document" /></details>
            </>}
        </div>
    )
}
