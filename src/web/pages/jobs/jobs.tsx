// The list of jobs: filtered by the address, picked by hand or as a whole, and acted upon.
import { useState } from 'preact/hooks'
import type { JobSummary, Operation } from 'openapi'
import { usePages } from '../../api/pages'
import { may } from '../../api/session'
import { count, number } from '../../base/format'
import { Query } from '../../base/query'
import { go, query } from '../../base/router'
import { Menu } from '../../parts/ask/menu'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { begin, Deed, Names, Progress } from '../common/bulk'
import { usePicks } from '../common/picks'
import { chosen, FIELDS } from './columns'
import { Views } from './views'

const filters: Filter[] = [
    { name: 'name', label: 'Name', first: true, placeholder: 'Name begins with …' },
    { name: 'status', label: 'Status', words: ['active', 'paused', 'completed', 'failed', 'cancelled'], many: true },
    {
        name: 'phase', label: 'Phase', many: true,
        words: ['running', 'retrying', 'waiting', 'blocked', 'scheduled'],
    },
    { name: 'queue', label: 'Queue', many: true },
    { name: 'tag', label: 'Tag', placeholder: 'key:value', many: true },
    { name: 'owner', label: 'Owner' },
    { name: 'team', label: 'Team' },
    { name: 'sort', label: 'Order', words: ['name', 'next_run_at'] },
]

const deeds: Deed[] = [
    {
        action: 'pause', verb: 'Pause', done: 'paused',
        meaning: 'What runs goes on; nothing new starts until they are resumed.',
    },
    { action: 'resume', verb: 'Resume', done: 'resumed', meaning: 'They run again, as their schedules say.' },
    {
        action: 'trigger', verb: 'Trigger', done: 'triggered',
        meaning: 'Each runs once now, whatever its schedule says.',
    },
    {
        action: 'cancel', verb: 'Cancel', done: 'cancelled', danger: true,
        meaning: 'What runs is stopped, and they never run again. This cannot be undone.',
    },
]

const EVERY_MS = 5000

/** As the call wants it: a name without a star is the beginning of one. */
function asked(): Query {
    const found: Query = readFilters(filters)
    const name = query.value.get('name')
    if (name)
        found.name = name.includes('*') ? name : `${name}*`
    return found
}

export default function Jobs() {
    const { sort, ...wanted } = asked()
    // That order leaves out jobs without a run ahead, which would be counted.
    const counted = String(sort) === 'next_run_at' ? undefined : true
    const list = usePages<JobSummary>('/jobs', 'jobs',
        { ...wanted, sort, fields: FIELDS, limit: 100, count: counted }, { every: EVERY_MS })
    const picks = usePicks(JSON.stringify(wanted))
    const [running, run] = useState<{ operation: Operation, deed: Deed, names: Names } | null>(null)

    const act = async (deed: Deed) => {
        const names = new Map(list.rows.map(job => [job.job_id, job.name]))
        const operation = await begin('/jobs/actions', 'job', deed,
            picks.all ? { filter: wanted } : { ids: [...picks.ids] }, names)
        if (operation) {
            run({ operation, deed, names })
            picks.clear()
        }
    }
    const some = picks.ids.size > 0 || picks.all
    const isWhole = list.at !== null && !list.hasMore
    const said = isWhole ? number(list.rows.length)
        : list.total === null ? '' : `${list.totalIsEstimate ? 'about ' : ''}${number(list.total)}`
    const isFiltered = Object.keys(wanted).length > 0
    const canAll = !('phase' in wanted) // actions know no phases
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1}>Jobs <span class="soft number">{said}</span></h1>
                <span class="row">
                    {may('POST', '/jobs') && <a class="button" href="/jobs/new">New job</a>}
                    <Views />
                    <Menu label="Columns" end items={chosen.items()} />
                </span>
            </div>
            <Filters filters={filters} />
            {some && may('POST', '/jobs/actions') && <div class="row" role="region" aria-label="Actions">
                <strong>{picks.all ? `All that match${said && `, ${said}`}` : count(picks.ids.size, 'job')}</strong>
                {!picks.all && canAll && (list.hasMore || picks.ids.size < list.rows.length) &&
                    <button class="button plain" type="button" onClick={() => picks.setAll(true)}>
                        Pick all that match</button>}
                {deeds.map(deed => <button key={deed.action} class={`button${deed.danger ? ' danger' : ''}`}
                    type="button" onClick={() => void act(deed)}>{deed.verb} …</button>)}
                <button class="button plain" type="button" onClick={picks.clear}>Pick none</button>
            </div>}
            {running && <Progress key={running.operation.operation_id} {...running} touches="/jobs"
                onClose={() => { run(null); list.reload() }} />}
            <OldData problem={list.problem} at={list.at} retry={list.reload} />
            {list.rows.length > 0
                ? <Table label="Jobs" columns={chosen.shown()} rows={list.rows} id={job => job.job_id}
                    open={job => go(`/jobs/${job.job_id}`)} picks={picks} hasMore={list.hasMore}
                    loading={list.loading} more={list.more}
                    isOld={list.isPrevious || list.problem !== null} />
                : list.at !== null && <Nothing isFiltered={isFiltered} />}
        </div>
    )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
    return isFiltered
        ? <Empty title="No job fits these filters.">
            A name is matched from its beginning; <code>*</code> stands for any text.
        </Empty>
        : <Empty title="There are no jobs yet." command="belfry submit --name hello -- echo hello">
            This runs a command once, now. The job appears here, with its run and what it printed. For one that comes
            again, add <code>--cron "0 3 * * *"</code> or <code>--every 15m</code>.
        </Empty>
}
