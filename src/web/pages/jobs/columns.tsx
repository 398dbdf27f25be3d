// The columns of the list of jobs, and which of them one has chosen.
import type { JobSummary } from 'openapi'
import { commandText, duration } from '../../base/format'
import { printQuery } from '../../base/query'
import type { Column } from '../../parts/list/table'
import { Dots } from '../../parts/show/dots'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { chooseColumns } from '../common/choosecolumns'
import { zoneOf } from '../common/schedule'

/** What the list asks for; `last_outcomes` comes only when it is named. */
export const FIELDS = 'job_id,name,status,phase,queue,priority,owner,team,created_at,next_run_at,schedule,' +
    'schedule_text,command,handler,last_outcomes'

const work = (job: JobSummary) => job.handler ? `handler ${job.handler}` : commandText(job.command)

const LastOutcomes = ({ job }: { job: JobSummary }) => (
    <Dots dots={[...job.last_outcomes ?? []].reverse().map(one => ({
        key: one.execution_id, state: one.status, href: `/executions/${one.execution_id}`,
        title: one.duration_ms === null ? undefined : duration(one.duration_ms),
    }))} />
)

const columns: Column<JobSummary>[] = [
    {
        key: 'name', name: 'Name', card: 'title',
        cell: job => <a href={`/jobs/${job.job_id}`} tabIndex={-1} title={job.name ?? work(job)}>
            <bdi>{job.name ?? work(job)}</bdi></a>,
    },
    { key: 'phase', name: 'State', width: '112px', card: 'state', cell: job => <Status state={job.phase} /> },
    { key: 'outcomes', name: 'Last runs', width: '166px', card: 'note', cell: job => <LastOutcomes job={job} /> },
    {
        key: 'next', name: 'Next run', width: '174px', card: 'time',
        cell: job => <Time at={job.next_run_at} zone={zoneOf(job)} none="" />,
    },
    {
        key: 'schedule', name: 'Schedule', width: '21%',
        cell: job => <span title={job.schedule_text ?? undefined}>{job.schedule_text ?? 'once'}</span>,
    },
    {
        key: 'queue', name: 'Queue', width: '92px',
        cell: job => <a href={`/jobs${printQuery({ queue: job.queue })}`} tabIndex={-1}>{job.queue}</a>,
    },
    { key: 'work', name: 'Work', width: '22%', cell: job => <code title={work(job)}>{work(job)}</code> },
    { key: 'owner', name: 'Owner', width: '110px', cell: job => job.owner },
    { key: 'team', name: 'Team', width: '110px', cell: job => job.team ?? '' },
    { key: 'priority', name: 'Priority', width: '76px', align: 'end', cell: job => job.priority },
    { key: 'created', name: 'Created', width: '174px', cell: job => <Time at={job.created_at} /> },
    { key: 'id', name: 'Id', width: '130px', cell: job => <Id id={job.job_id} /> },
]

export const chosen = chooseColumns('jobs', columns, ['name', 'phase', 'outcomes', 'next', 'schedule', 'queue'])
