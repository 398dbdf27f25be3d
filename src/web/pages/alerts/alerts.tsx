// Alerts: what somebody should know about, who looks after it, and what is kept from being sent.
import './alerts.css'
import { useState } from 'preact/hooks'
import type { Alert } from 'openapi'
import { usePages } from '../../api/pages'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { Query } from '../../base/query'
import { query, setQuery } from '../../base/router'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Table } from '../../parts/list/table'
import { Tabs } from '../../parts/list/tabs'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { OPEN_ALERTS } from '../common/alerts'
import type { PageProps } from '../../base/router'
import { useEach } from '../common/each'
import { usePicks } from '../common/picks'
import { Acknowledge, acknowledging } from './acknowledge'
import { columns } from './columns'
import { Whole } from './whole'
import { sentence } from './sentence'
import { SilenceForm, Silences } from './silences'

const kinds = ['job_failed', 'worker_lost', 'breaker_open', 'dead_letters', 'queue_old', 'queue_depth', 'failure_rate',
    'sla_warning', 'sla_violated', 'start_late', 'slow', 'turns_lost', 'clock', 'missed']
const always: Filter[] = [
    { name: 'key', label: 'Key', first: true, placeholder: 'Key, or its beginning with *' },
    { name: 'level', label: 'Level', words: ['warning', 'critical'], many: true },
    { name: 'kind', label: 'Kind', words: kinds, many: true },
    { name: 'queue', label: 'Queue' },
    { name: 'job', label: 'Job' },
]
const ofAll: Filter[] = [...always,
    { name: 'state', label: 'State', words: ['kept', 'pending', 'sent', 'given_up', 'silenced'], many: true },
    { name: 'acknowledged', label: 'Acknowledged', words: ['true', 'false'] },
]
const EVERY_MS = 5000
const TABS = ['open', 'all', 'silences']

export default function Alerts({ params }: PageProps) {
    const tab = TABS.includes(params.tab) ? params.tab : 'open'
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Alerts</h1>
            <Tabs label="Alerts" current={tab} tabs={[
                { key: 'open', name: 'Open', href: '/alerts' },
                { key: 'all', name: 'All', href: '/alerts/all' },
                { key: 'silences', name: 'Silences', href: '/alerts/silences' },
            ]} />
            {tab === 'silences' ? <Silences /> : <List key={tab} isOpen={tab === 'open'} />}
        </div>
    )
}

function List({ isOpen }: { isOpen: boolean }) {
    const filters = isOpen ? always : ofAll
    const found: Query = readFilters(filters)
    const list = usePages<Alert>('/alerts', 'alerts', { ...found, ...(isOpen && OPEN_ALERTS), limit: 100 },
        { every: EVERY_MS })
    const picks = usePicks(JSON.stringify(found))
    const each = useEach()
    const [acks, ack] = useState<string[] | null>(null)
    const [silenced, silence] = useState<string | null>(null)
    const shown = list.rows.find(alert => alert.alert_id === query.value.get('alert'))
    const isFiltered = Object.keys(found).length > 0
    return (
        <>
            {isOpen && list.rows.length > 0 && <p>{sentence(list.rows, list.hasMore)}</p>}
            <Filters filters={filters} />
            {picks.ids.size > 0 && may('POST', '/alerts/{}/ack') && <div class="row" role="region" aria-label="Actions">
                <strong>{count(picks.ids.size, 'alert')}</strong>
                <button class="button" type="button" onClick={() => ack([...picks.ids])}>Acknowledge …</button>
                <button class="button plain" type="button" onClick={picks.clear}>Pick none</button>
            </div>}
            {each.shown}
            <OldData problem={list.problem} at={list.at} retry={list.reload} />
            {list.rows.length > 0
                ? <Table label="Alerts" columns={columns} rows={list.rows} id={alert => alert.alert_id} picks={picks}
                    open={alert => setQuery({ alert: alert.alert_id })} hasMore={list.hasMore} loading={list.loading}
                    more={list.more} isOld={list.isPrevious || list.problem !== null} />
                : list.at !== null && <Nothing isOpen={isOpen} isFiltered={isFiltered} />}
            {shown && acks === null && silenced === null && <Whole alert={shown}
                onClose={() => setQuery({ alert: null })} acknowledge={() => ack([shown.alert_id])}
                silence={() => silence(shown.key)} />}
            {acks && <Acknowledge alerts={acks.length} onClose={() => ack(null)} done={async note => {
                ack(null)
                setQuery({ alert: null })
                await each.run(acknowledging(note), 'alert', acks, { asked: true })
                picks.clear()
                list.reload()
            }} />}
            {silenced !== null && <SilenceForm of={silenced} onClose={() => silence(null)} done={() => {
                silence(null)
                setQuery({ alert: null })
            }} />}
        </>
    )
}

function Nothing({ isOpen, isFiltered }: { isOpen: boolean, isFiltered: boolean }) {
    if (isFiltered)
        return <Empty title="No alert fits these filters.">
            A key is matched as a whole, or from its beginning with <code>*</code> behind it: <code>queue_old:*</code>.
        </Empty>
    return isOpen ? <Empty title="No alert is open." command="belfry alerts">
        What somebody should know about comes here until somebody acknowledges it, unless a silence covers it. Those of
        the last weeks are under <a href="/alerts/all">All</a>.
    </Empty> : <Empty title="No alerts are kept." command="belfry submit --name broken --retries 0 -- sh -c 'exit 1'">
        A job that fails for good raises one, a worker that vanishes with work, a queue in which something waits too
        long, and more. This command does.
    </Empty>
}
