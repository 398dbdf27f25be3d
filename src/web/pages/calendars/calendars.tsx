// Calendars: the times at which jobs are not to run; a new one by a form or of an iCalendar file.
import { useState } from 'preact/hooks'
import type { Calendar } from 'openapi'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count, number } from '../../base/format'
import { part } from '../../base/query'
import { go, query, setQuery } from '../../base/router'
import { Column, Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { Form } from './form'

const EVERY_MS = 10_000

export const policies = {
    skip: { word: 'skip', meaning: 'what falls into it does not run' },
    hold: { word: 'hold', meaning: 'what falls into it runs when it is over' },
}

const columns: Column<Calendar>[] = [
    { key: 'name', name: 'Name', card: 'title',
        cell: calendar => <a href={`/calendars/${part(calendar.name)}`} tabIndex={-1}>{calendar.name}</a> },
    { key: 'policy', name: 'Policy', width: '130px', card: 'state',
        cell: ({ policy }) => <span title={policies[policy].meaning}><Status
            state={policy === 'skip' ? 'skipped' : 'paused'} word={policy === 'skip' ? 'skips' : 'holds'} /></span> },
    { key: 'entries', name: 'Entries', width: '120px', card: 'note',
        cell: calendar => count(calendar.entry_count, 'entry', 'entries') },
    { key: 'version', name: 'Version', width: '90px', align: 'end', cell: calendar => calendar.version },
    { key: 'by', name: 'Changed by', width: '20%', cell: calendar => calendar.changed_by },
    { key: 'changed', name: 'Changed', width: '150px', card: 'time',
        cell: calendar => <Time at={calendar.changed_at} /> },
]

function sentence(calendars: Calendar[]): string {
    const holds = calendars.filter(calendar => calendar.policy === 'hold').length
    const skips = calendars.length - holds
    return `${[skips > 0 && `${count(skips, 'calendar')} ${skips === 1 ? 'skips' : 'skip'} what falls into ${
        skips === 1 ? 'it' : 'them'}`,
    holds > 0 && `${count(holds, 'calendar')} ${holds === 1 ? 'holds' : 'hold'} it until it is over`]
        .filter(Boolean).join(', ')}.`
}

export default function Calendars() {
    const { data, problem, at, reload } = useResource<{ calendars: Calendar[] }>('/calendars', {}, { every: EVERY_MS })
    const adding = query.value.get('add') !== null
    const [made, setMade] = useState<Calendar | null>(null)
    const calendars = data?.calendars
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1}>Calendars <span class="soft number">
                    {calendars && number(calendars.length)}</span></h1>
                {!adding && may('PUT', '/calendars/{}') && <button class="button main" type="button"
                    onClick={() => { setMade(null); setQuery({ add: '1' }) }}>Add a calendar</button>}
            </div>
            {calendars && calendars.length > 0 && <p>{sentence(calendars)}</p>}
            {adding && <section class="panel stack">
                <h2>A new calendar</h2>
                <Form taken={calendars?.map(calendar => calendar.name) ?? []} leave={() => setQuery({ add: null })}
                    done={calendar => {
                        setMade(calendar)
                        if (calendar.warning_count)
                            setQuery({ add: null })
                        else
                            go(`/calendars/${part(calendar.name)}`)
                    }} />
            </section>}
            {made && <Warnings calendar={made} />}
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {calendars && calendars.length > 0 && <Table label="Calendars" columns={columns} rows={calendars}
                id={calendar => calendar.name} open={calendar => go(`/calendars/${part(calendar.name)}`)}
                isOld={problem !== null} />}
            {calendars?.length === 0 && !adding && <Empty title="There are no calendars yet."
                command="echo '{&quot;dates&quot;: [&quot;2026-12-25&quot;]}' | belfry calendars put holidays -">
                A calendar is a named set of times at which jobs are not to run: holidays, freezes, windows for
                maintenance. A job goes by it with <code>"calendars": ["holidays"]</code>.
            </Empty>}
        </div>
    )
}

/** What of an iCalendar file was left out. */
export function Warnings({ calendar }: { calendar: Calendar }) {
    if (!calendar.warning_count)
        return null
    return (
        <section class="panel stack" role="status">
            <p class="calendar-said"><Status state="warning" /> {count(calendar.warning_count, 'event')} of{' '}
                {calendar.name} {calendar.warning_count === 1 ? 'was' : 'were'} not understood and left out; the others
                count.</p>
            <ul class="list calendar-said">
                {calendar.warnings?.map(warning => <li key={warning.line}>
                    {warning.summary && <strong>{warning.summary} </strong>}{warning.message}
                </li>)}
            </ul>
        </section>
    )
}
