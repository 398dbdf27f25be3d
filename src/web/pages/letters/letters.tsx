// Dead letters: what failed for good, by what it has in common, and one by one.
import './letters.css'
import { useState } from 'preact/hooks'
import type { DeadLetterGroups, DeadLetterList, Operation } from 'openapi'
import { api } from '../../api/client'
import { usePages } from '../../api/pages'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count, number } from '../../base/format'
import { Query } from '../../base/query'
import { go, query } from '../../base/router'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { begin, Deed, Progress, Targets } from '../common/bulk'
import { classes } from '../common/classes'
import { useEach } from '../common/each'
import { usePicks } from '../common/picks'
import { columns } from './columns'
import { Groups } from './groups'
import { sentence } from './sentence'

type Letter = DeadLetterList['dead_letters'][number]

const filters: Filter[] = [
    { name: 'name', label: 'Name', first: true, placeholder: 'Name of the job' },
    { name: 'queue', label: 'Queue' },
    { name: 'class', label: 'Class', words: classes },
    { name: 'job', label: 'Job' },
    { name: 'fingerprint', label: 'Failed alike' },
]
const EVERY_MS = 5000

const retry: Deed = { verb: 'Retry', done: 'run again', meaning: 'Each is run again, as a new execution with the ' +
    'payload it had. Those that cannot be, since their job was cancelled say, stay here and are named.' }
const discard: Deed = { verb: 'Discard', done: 'discarded', danger: true, meaning: 'They are taken off this list. ' +
    'Their history stays. This cannot be undone.' }

/** Of each filter one value, as the calls want it. */
const asked = (): Record<string, string> => Object.fromEntries(Object.entries(readFilters(filters)).map(
    ([name, values]) => [name, values[0]]))

export default function DeadLetters() {
    const wanted: Query = asked()
    const { fingerprint, ...others } = wanted
    const groups = useResource<DeadLetterGroups>('/dead-letters/fingerprints', { ...others, limit: 100 },
        { every: EVERY_MS, keep: true })
    const list = usePages<Letter>('/dead-letters', 'dead_letters', { ...wanted, limit: 100, count: true },
        { every: EVERY_MS })
    const picks = usePicks(query.value.toString())
    const each = useEach()
    const [running, run] = useState<{ operation: Operation, deed: Deed } | null>(null)

    const many = async (deed: Deed, targets: Targets) => {
        const path = targets.ids ? '/executions/actions' : `/dead-letters/${deed.verb.toLowerCase()}`
        const operation = await begin(path, 'dead letter', targets.ids ? { ...deed, action: 'retry' } : deed, targets)
        if (operation) {
            run({ operation, deed })
            picks.clear()
        }
    }
    const picked = async (deed: Deed) => {
        const ids = [...picks.ids]
        if (deed === retry)
            await many(deed, { ids })
        else if (await each.run({ ...deed, touches: '/dead-letters', call: id => api.delete(`/dead-letters/${id}`) },
            'dead letter', ids)) {
            picks.clear()
            list.reload()
        }
    }
    const deeds = [retry, discard].filter(deed => may('POST', `/dead-letters/${deed.verb.toLowerCase()}`))
    const isFiltered = Object.keys(wanted).length > 0
    const shown = groups.data?.fingerprints.filter(group => !fingerprint || group.fingerprint === fingerprint) ?? []
    const said = list.total === null ? '' : !list.totalIsEstimate ? number(list.total)
        : fingerprint && groups.data?.complete && shown.length > 0 ? number(shown[0].count)
            : `about ${number(list.total)}`
    const isEmpty = list.at !== null && list.rows.length === 0
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Dead letters <span class="soft number">{said}</span></h1>
            {groups.data && !isEmpty && shown.length > 0 && <p>
                {sentence({ ...groups.data, fingerprints: shown })}</p>}
            <Filters filters={filters} />
            {!isEmpty && list.at !== null && <div class="row" role="region" aria-label="Actions">
                <strong>{picks.ids.size > 0 ? `${count(picks.ids.size, 'dead letter')} picked`
                    : isFiltered ? `All that match, ${said}` : `All ${said}`}</strong>
                {deeds.map(deed => <button key={deed.verb} class={`button${deed.danger ? ' danger' : ''}`} type="button"
                    onClick={() => void (picks.ids.size > 0 ? picked(deed) : many(deed, { filter: wanted }))}>
                    {deed.verb} {picks.ids.size > 0 ? '' : 'all '}…</button>)}
                {picks.ids.size > 0 && <button class="button plain" type="button" onClick={picks.clear}>
                    Pick none</button>}
            </div>}
            {running && <Progress key={running.operation.operation_id} {...running} touches="/dead-letters"
                onClose={() => { run(null); list.reload() }} />}
            {each.shown}
            <OldData problem={list.problem ?? groups.problem} at={list.at} retry={list.reload} />
            {shown.length > 0 && !isEmpty && <Groups groups={shown} chosen={!!fingerprint} deeds={deeds}
                isOld={groups.isPrevious || groups.problem !== null} act={(deed, group) =>
                    void many(deed, { filter: { ...others, fingerprint: group.fingerprint } })} />}
            {isEmpty ? <Nothing isFiltered={isFiltered} /> : list.rows.length > 0 && <>
                <h2>One by one, the newest first</h2>
                <Table label="Dead letters" columns={columns} rows={list.rows} id={letter => letter.execution_id}
                    open={letter => go(`/dead-letters/${letter.execution_id}`)} picks={picks} hasMore={list.hasMore}
                    loading={list.loading} more={list.more} isOld={list.isPrevious || list.problem !== null} />
            </>}
        </div>
    )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
    return isFiltered ? <Empty title="No dead letter fits these filters.">
        Names and queues are matched as a whole.
    </Empty>
        : <Empty title="There are no dead letters."
            command="belfry submit --name broken --retries 0 -- sh -c 'echo no such host >&2; exit 1'">
            What fails for good comes here, counted by what it has in common, until somebody runs it again or discards
            it. This command makes one.
        </Empty>
}
