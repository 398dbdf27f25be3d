// Runs that a worker has at the moment, the longest first.
import type { WorkerRun, WorkerWhole } from 'openapi'
import { shortId } from '../../base/format'
import { part } from '../../base/query'
import { go } from '../../base/router'
import { Column, Table } from '../../parts/list/table'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'

const columns: Column<WorkerRun>[] = [
    { key: 'job', name: 'Job', card: 'title',
        cell: run => <a href={`/executions/${run.execution_id}`} tabIndex={-1}>
            {run.job_name ?? shortId(run.execution_id)}</a> },
    { key: 'state', name: 'State', width: '120px', card: 'state',
        cell: run => run.stopping ? <Status state="stopped" word="being stopped" /> : <Status state="running" /> },
    { key: 'since', name: 'Runs for', width: '110px', card: 'time', cell: run => <Duration since={run.started_at} /> },
    { key: 'attempt', name: 'Attempt', width: '84px', align: 'end', cell: run => run.attempt },
    { key: 'queue', name: 'Queue', width: '140px', card: 'note',
        cell: run => <a href={`/queues/${part(run.queue)}`} tabIndex={-1}>{run.queue}</a> },
    { key: 'lease', name: 'Its own until', width: '120px', cell: run => <Time at={run.lease_until} /> },
    { key: 'logs', name: 'Output', width: '80px',
        cell: run => <a href={`/executions/${run.execution_id}/output`} tabIndex={-1}>output</a> },
]

export function Runs({ worker, isOld }: { worker: WorkerWhole, isOld: boolean }) {
    if (worker.executions.length === 0)
        return null
    return <Table label="What it runs" columns={columns} rows={worker.executions} id={run => run.execution_id}
        open={run => go(`/executions/${run.execution_id}`)} isOld={isOld} />
}
