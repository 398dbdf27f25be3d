// The same as a table: what ran and what is ahead, by when it began.
import type { TimelineBar } from 'openapi'
import { part } from '../../base/query'
import { go } from '../../base/router'
import { parse } from '../../base/when'
import { Column, Table } from '../../parts/list/table'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'
import { nameOf } from './lane'
import { Lane, lateBy, Run } from './layout'

interface Entry { at: string, bar: TimelineBar | null, run: Run | null }

const columns: Column<Entry>[] = [
    { key: 'at', name: 'Began', width: '216px', card: 'time', cell: ({ at }) => <Time at={at} exactly /> },
    { key: 'job', name: 'Job', card: 'title', cell: ({ bar, run }) => <a tabIndex={-1}
        href={bar ? `/executions/${bar.execution_id}` : `/jobs/${run!.job_id}`}><bdi>{nameOf(bar ?? run!)}</bdi></a> },
    { key: 'state', name: 'State', width: '120px', card: 'state',
        cell: ({ bar }) => <Status state={bar?.status ?? 'planned'} /> },
    { key: 'late', name: 'Late by', width: '100px', cell: ({ bar }) => bar && lateBy(bar) > 0
        ? <span class="hue-late"><Duration ms={lateBy(bar)} /></span> : <span class="soft">–</span> },
    { key: 'took', name: 'Took', width: '130px', card: 'note', cell: ({ bar, run }) => !bar
        ? run!.p50_ms ? <span class="soft">usually <Duration ms={run!.p50_ms} /></span> : <span class="soft">–</span>
        : bar.finished_at === null ? <Duration since={bar.started_at} />
            : <Duration ms={parse(bar.finished_at)! - parse(bar.started_at)!} /> },
    { key: 'queue', name: 'Queue', width: '18%', cell: ({ bar, run }) =>
        <a href={`/queues/${part((bar ?? run!).queue)}`} tabIndex={-1}>{(bar ?? run!).queue}</a> },
]

export function List({ lanes, isOld }: { lanes: readonly Lane[], isOld: boolean }) {
    const rows: Entry[] = lanes.flatMap(lane => [
        ...lane.bars.map(bar => ({ at: bar.started_at, bar, run: null })),
        ...lane.runs.map(run => ({ at: run.at, bar: null, run })),
    ]).sort((a, b) => a.at < b.at ? 1 : -1)
    return <Table label="What ran, and what is ahead" columns={columns} rows={rows} isOld={isOld}
        id={({ bar, run, at }) => bar?.execution_id ?? `${run!.job_id} ${at}`}
        open={({ bar, run }) => go(bar ? `/executions/${bar.execution_id}` : `/jobs/${run!.job_id}`)} />
}
