// The past of a cluster: partitions that changed hands, and times without the store.
import type { Outage, Takeover } from 'openapi'
import { count, ranges } from '../../base/format'
import { Column, Table } from '../../parts/list/table'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'

const why: Record<string, string> = {
    free: 'no server had them',
    given: 'given back, to share the load or to leave',
    silent: 'that one was silent for too long',
    replaced: 'that one is dead; this server was started in its place',
    gone: 'that one is not among the servers any more',
}

const takeoverColumns: Column<Takeover>[] = [
    { key: 'at', name: 'When', width: '170px', card: 'time', cell: one => <Time at={one.at} /> },
    {
        key: 'what', name: 'Partitions', card: 'title',
        cell: one => <span class="number" title={ranges(one.partitions)}>
            {count(one.partitions.length, 'partition')}<span class="soft">: {ranges(one.partitions)}</span></span>,
    },
    {
        key: 'who', name: 'From → to', width: '24%', card: 'state',
        cell: one => `${one.from ?? 'no server'} → ${one.to}`,
    },
    { key: 'why', name: 'Why', width: '34%', card: 'note', cell: one => why[one.why] ?? one.why },
]

const outageColumns: Column<Outage>[] = [
    { key: 'from', name: 'From', width: '170px', card: 'time', cell: one => <Time at={one.from} /> },
    {
        key: 'length', name: 'For', width: '150px', card: 'state',
        cell: one => one.until === null ? <Status state="failed" word="goes on" />
            : <Duration ms={Date.parse(one.until) - Date.parse(one.from)} />,
    },
    { key: 'server', name: 'Server', width: '20%', card: 'title', cell: one => one.server },
    {
        key: 'error', name: 'Error', card: 'note',
        cell: one => <span title={one.error}><code>{one.code}</code> {one.error}</span>,
    },
]

export function Takeovers({ takeovers, isOld }: { takeovers: readonly Takeover[], isOld: boolean }) {
    return (
        <section>
            <h2>Takeovers <span class="soft">since the servers were started</span></h2>
            {takeovers.length === 0 ? <p class="soft">No partition has changed hands.</p>
                : <Table label="Takeovers" columns={takeoverColumns} rows={takeovers} isOld={isOld}
                    id={one => `${one.at} ${one.to} ${one.from} ${one.partitions[0]}`} />}
        </section>
    )
}

export function Outages({ outages, isOld }: { outages: readonly Outage[], isOld: boolean }) {
    return (
        <section>
            <h2>Outages of the store</h2>
            {outages.length === 0 ? <p class="soft">It has always taken commits since the servers were started.</p>
                : <Table label="Outages" columns={outageColumns} rows={outages} isOld={isOld}
                    id={one => `${one.server} ${one.from}`} />}
        </section>
    )
}
