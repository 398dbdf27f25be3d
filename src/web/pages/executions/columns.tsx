// The columns of the list of executions, and which of them one has chosen.
import type { ExecutionSummary } from 'openapi'
import { printQuery } from '../../base/query'
import type { Column } from '../../parts/list/table'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'
import { Cause } from '../common/cause'
import { chooseColumns } from '../common/choosecolumns'
import { Why } from '../common/why'

export const FIELDS = 'execution_id,job_id,job_name,status,stopping,queue,priority,origin,slot,created_at,due_at,' +
    'started_at,finished_at,duration_ms,retry_of,attempt_count,lost_count,next_attempt_at,worker_id,error'

export const isWaiting = (status: string) => ['scheduled', 'blocked', 'queued', 'retrying'].includes(status)
export const isOver = (status: string) => !isWaiting(status) && status !== 'running'

/** The moment that matters: of its end, of its beginning, or of when it is due. */
function When({ one }: { one: ExecutionSummary }) {
    if (one.status === 'scheduled' || one.status === 'retrying')
        return <Time at={one.next_attempt_at ?? one.due_at} />
    return <Time at={one.finished_at ?? one.started_at ?? one.created_at} />
}

/** What went wrong, or what it waits for. */
function Note({ one }: { one: ExecutionSummary }) {
    if (isWaiting(one.status))
        return <Why executionId={one.execution_id} error={one.error} />
    if (one.error && (one.status === 'failed' || one.status === 'timeout'))
        return <Cause executionId={one.execution_id} error={one.error} />
    return <span title={one.error ?? undefined}>{one.error ?? ''}</span>
}

const attempts = (one: ExecutionSummary) => one.attempt_count + one.lost_count

const columns: Column<ExecutionSummary>[] = [
    {
        key: 'job', name: 'Job', width: '19%', card: 'title',
        cell: one => <a href={`/executions/${one.execution_id}`} tabIndex={-1} title={one.job_name ?? undefined}>
            <bdi>{one.job_name ?? one.job_id}</bdi></a>,
    },
    {
        key: 'status', name: 'State', width: '112px', card: 'state',
        cell: one => <Status state={one.status} word={one.stopping ? 'stopping' : undefined} />,
    },
    { key: 'note', name: 'Error, or what it waits for', card: 'note', cell: one => <Note one={one} /> },
    { key: 'when', name: 'When', width: '174px', card: 'time', cell: one => <When one={one} /> },
    {
        key: 'took', name: 'Took', width: '88px', align: 'end',
        cell: one => one.started_at === null ? '' : <Duration ms={one.duration_ms}
            since={one.status === 'running' ? one.started_at : null} />,
    },
    {
        key: 'attempts', name: 'Attempts', width: '80px', align: 'end',
        cell: one => <span title={one.lost_count > 0 ? `${one.lost_count} of them lost` : undefined}>
            {attempts(one) || ''}</span>,
    },
    {
        key: 'queue', name: 'Queue', width: '92px',
        cell: one => <a href={`/executions${printQuery({ queue: one.queue })}`} tabIndex={-1}>{one.queue}</a>,
    },
    {
        key: 'worker', name: 'Worker', width: '136px',
        cell: one => one.worker_id ? <Id id={one.worker_id} href={`/workers/${one.worker_id}`} /> : '',
    },
    { key: 'origin', name: 'Why it runs', width: '110px', cell: one => one.origin },
    { key: 'slot', name: 'Slot', width: '174px', cell: one => <Time at={one.slot} /> },
    { key: 'created', name: 'Created', width: '174px', cell: one => <Time at={one.created_at} /> },
    { key: 'id', name: 'Id', width: '140px', cell: one => <Id id={one.execution_id} /> },
]

export const chosen = chooseColumns('executions', columns,
    ['job', 'status', 'note', 'when', 'took', 'attempts', 'queue'])
