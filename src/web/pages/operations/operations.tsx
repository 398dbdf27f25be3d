// Actions on many at once: how far each has come, what was refused, and a way to stop it.
import type { Operation } from 'openapi'
import { useResource } from '../../api/resource'
import { count, number } from '../../base/format'
import { go } from '../../base/router'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Column, Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { mayStop, stop } from './stop'
import { all, targets, title } from './words'

const EVERY_MS = 2000

const filters: Filter[] = [
    { name: 'status', label: 'Status', words: ['running', 'done', 'cancelled', 'failed'], many: true },
    { name: 'of', label: 'Of', words: ['jobs', 'executions', 'dead_letters'], many: true },
]

const columns: Column<Operation>[] = [
    {
        key: 'what', name: 'Operation', width: '170px', card: 'title',
        cell: one => <a href={`/operations/${one.operation_id}`} tabIndex={-1}>{title(one)}</a>,
    },
    { key: 'status', name: 'State', width: '110px', card: 'state', cell: one => <Status state={one.status} /> },
    {
        key: 'done', name: 'Done', width: '150px', card: 'note',
        cell: one => <span class="number">{number(one.done)}{all(one) !== null && ` of ${number(all(one)!)}`}</span>,
    },
    {
        key: 'refused', name: 'Refused', width: '84px', align: 'end',
        cell: one => one.refused > 0 ? <span class="hue-bad" title={one.last_refusal ?? undefined}>
            {number(one.refused)}</span> : '0',
    },
    { key: 'targets', name: 'What it is about', cell: one => <span title={targets(one)}>{targets(one)}</span> },
    { key: 'actor', name: 'By', width: '14%', cell: one => one.actor },
    { key: 'at', name: 'Begun', width: '130px', card: 'time', cell: one => <Time at={one.created_at} /> },
]

/** Only while there is one to be stopped. */
const stopColumn: Column<Operation> = {
    key: 'stop', name: 'Stop', width: '84px',
    cell: one => mayStop(one) && <button class="button plain" type="button" tabIndex={-1}
        onClick={() => void stop(one)}>Stop …</button>,
}

function sentence(operations: readonly Operation[]): string {
    const running = operations.filter(one => one.status === 'running')
    const refused = operations.reduce((sum, one) => sum + one.refused, 0)
    const goes = running.length === 0 ? 'None is going on'
        : `${count(running.length, 'operation')} ${running.length === 1 ? 'is' : 'are'} going on`
    return `${goes}; of the newest ${number(operations.length)}, ${refused === 0 ? 'nothing was refused'
        : `${count(refused, 'thing')} ${refused === 1 ? 'was' : 'were'} refused`}.`
}

export default function Operations() {
    const { data, problem, at, reload } = useResource<{ operations: Operation[] }>('/operations', {},
        { every: EVERY_MS })
    const { status, of } = readFilters(filters)
    const operations = data?.operations ?? []
    const rows = operations.filter(one => (!status || status.includes(one.status)) && (!of || of.includes(one.of)))
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Operations</h1>
            {operations.length > 0 && <p class="lead">{sentence(operations)}</p>}
            <OldData problem={problem} at={at} retry={reload} />
            {operations.length > 0 && <Filters filters={filters} />}
            {rows.length > 0 && <Table label="Operations" rows={rows}
                columns={rows.some(mayStop) ? [...columns, stopColumn] : columns} id={one => one.operation_id}
                open={one => go(`/operations/${one.operation_id}`)} isOld={problem !== null} />}
            {data && rows.length === 0 && (operations.length > 0 ? <Empty title="No operation fits these filters." />
                : <Empty title="Nothing has been done with many at once yet."
                    command="belfry pause --filter tag=env:test">
                    Pick jobs, executions or dead letters in their lists, or name a filter to a command: what is begun
                    so is listed here, with its progress and with what was refused.
                </Empty>)}
        </div>
    )
}
