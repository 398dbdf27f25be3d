// The executions of a job, the newest first.
import type { ExecutionSummary, Job } from 'openapi'
import { usePages } from '../../api/pages'
import { go } from '../../base/router'
import { Column, Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'
import { Cause } from '../common/cause'
import { zoneOf } from '../common/schedule'

const columnsOf = (zone: string | null): Column<ExecutionSummary>[] => [
    { key: 'status', name: 'State', width: '130px', card: 'state', cell: one => <Status state={one.status} /> },
    {
        key: 'slot', name: 'Due', width: '210px', card: 'title',
        cell: one => <a href={`/executions/${one.execution_id}`} tabIndex={-1}>
            <Time at={one.slot ?? one.created_at} zone={zone} exactly={{ seconds: true }} /></a>,
    },
    {
        key: 'took', name: 'Took', width: '90px', align: 'end', card: 'time',
        cell: one => <Duration ms={one.duration_ms} since={one.status === 'running' ? one.started_at : null} />,
    },
    { key: 'attempts', name: 'Attempts', width: '80px', align: 'end', cell: one => one.attempt_count },
    { key: 'origin', name: 'Why', width: '90px', cell: one => one.origin },
    { key: 'error', name: 'Error', card: 'note', cell: one => one.error && ['failed', 'timeout'].includes(one.status)
        ? <Cause executionId={one.execution_id} error={one.error} />
        : <span title={one.error ?? undefined}>{one.error}</span> },
    { key: 'id', name: 'Id', width: '140px', cell: one => <Id id={one.execution_id} /> },
]

export function Runs({ job }: { job: Job }) {
    const list = usePages<ExecutionSummary>(`/jobs/${job.job_id}/executions`, 'executions', { limit: 100 },
        { every: 5000 })
    return (
        <div class="stack">
            <OldData problem={list.problem} at={list.at} retry={list.reload} />
            {list.rows.length > 0
                ? <>
                    <p><a href={`/executions?job=${job.job_id}`}>Filter these, or act on many</a></p>
                    <Table label="Executions of this job" columns={columnsOf(zoneOf(job))} rows={list.rows}
                        id={one => one.execution_id} open={one => go(`/executions/${one.execution_id}`)}
                        hasMore={list.hasMore} loading={list.loading} more={list.more}
                        isOld={list.isPrevious || list.problem !== null} />
                </>
                : list.at !== null && <Empty title="It has no executions yet."
                    command={`belfry trigger ${job.job_id}`}>
                    This runs it once, now. The run appears here, with its outcome.
                </Empty>}
        </div>
    )
}
