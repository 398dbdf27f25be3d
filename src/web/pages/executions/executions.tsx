// The list of executions: filtered by the address, picked by hand or as a whole, and acted upon.
import './executions.css'
import { useRef, useState } from 'preact/hooks'
import type { ExecutionSummary, Operation } from 'openapi'
import { usePages } from '../../api/pages'
import { may } from '../../api/session'
import { count, number } from '../../base/format'
import { go, query } from '../../base/router'
import { tick } from '../../live/live'
import { Menu } from '../../parts/ask/menu'
import { Filters } from '../../parts/list/filters'
import { Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { begin, Names, Progress } from '../common/bulk'
import { useFailures } from '../common/failures'
import { usePicks } from '../common/picks'
import { chosen, FIELDS } from './columns'
import { deeds, ExecutionDeed, whyNotAll } from './deeds'
import { askedFor, filters, useMinute } from './filters'
import { parts } from './sentence'

const EVERY_MS = 5000
const PAGE = 100

function Sentence() {
    const failed = useFailures()
    const said = tick.value ? parts(tick.value.executions, failed) : null
    return (
        <p class="executions-sentence">
            {said?.map((part, i) => <>{i > 0 && ', '}<a key={part.href} href={part.href}>{part.text}</a></>)}
            {said && (said.length > 0 ? '.' : 'Nothing runs, and nothing waits.')}
        </p>
    )
}

export default function Executions() {
    const held = useRef(false)
    const wanted = askedFor(useMinute(held))
    const list = usePages<ExecutionSummary>('/executions', 'executions',
        { ...wanted, fields: FIELDS, limit: PAGE, count: true }, { every: EVERY_MS })
    const picks = usePicks(query.value.toString())
    const [running, run] = useState<{ operation: Operation, deed: ExecutionDeed, names: Names } | null>(null)

    const act = async (deed: ExecutionDeed) => {
        const names = new Map(list.rows.map(one => [one.execution_id, one.job_name]))
        const operation = await begin('/executions/actions', 'execution', deed,
            picks.all ? { filter: wanted } : { ids: [...picks.ids] }, names)
        if (operation) {
            run({ operation, deed, names })
            picks.clear()
        }
    }
    const some = picks.ids.size > 0 || picks.all
    held.current = some || list.rows.length > PAGE
    const isWhole = list.at !== null && !list.hasMore
    const said = isWhole ? number(list.rows.length)
        : list.total === null ? '' : `${list.totalIsEstimate ? 'about ' : ''}${number(list.total)}`
    const isFiltered = Object.keys(wanted).length > 0
    const canAll = deeds.some(deed => whyNotAll(deed, wanted) === null)
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1}>Executions <span class="soft number">{said}</span></h1>
                <Menu label="Columns" end items={chosen.items()} />
            </div>
            <Sentence />
            <Filters filters={filters} />
            {some && may('POST', '/executions/actions') && <div class="row" role="region" aria-label="Actions">
                <strong>{picks.all ? `All that match${said && `, ${said}`}`
                    : count(picks.ids.size, 'execution')}</strong>
                {!picks.all && canAll && (list.hasMore || picks.ids.size < list.rows.length) &&
                    <button class="button plain" type="button" onClick={() => picks.setAll(true)}>
                        Pick all that match</button>}
                {deeds.map(deed => {
                    const not = picks.all ? whyNotAll(deed, wanted) : null
                    return <button key={deed.action} class={`button${deed.danger ? ' danger' : ''}`} type="button"
                        disabled={not !== null} title={not ?? undefined} onClick={() => void act(deed)}>
                        {deed.verb} …</button>
                })}
                <button class="button plain" type="button" onClick={picks.clear}>Pick none</button>
            </div>}
            {running && <Progress key={running.operation.operation_id} {...running} touches="/executions"
                onClose={() => { run(null); list.reload() }} />}
            <OldData problem={list.problem} at={list.at} retry={list.reload} />
            {list.rows.length > 0
                ? <Table label="Executions" columns={chosen.shown()} rows={list.rows} id={one => one.execution_id}
                    open={one => go(`/executions/${one.execution_id}`)} picks={picks} hasMore={list.hasMore}
                    loading={list.loading} more={list.more} isOld={list.isPrevious || list.problem !== null} />
                : list.at !== null && <Nothing isFiltered={isFiltered} />}
        </div>
    )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
    return isFiltered
        ? <Empty title="No execution fits these filters.">
            A job's name is matched from its beginning; <code>*</code> stands for any text. Times are
            <code> 2h</code>, <code>7d</code>, or <code>2026-11-16 03:00</code> in UTC.
        </Empty>
        : <Empty title="Nothing has run yet." command="belfry submit --name hello --wait -- echo hello">
            Each run of a job is an execution: it appears here when it is planned, and stays with what it printed and
            how it ended.
        </Empty>
}
