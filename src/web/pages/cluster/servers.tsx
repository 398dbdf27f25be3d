// The servers: how each is, which partitions it has, how long its commits take; and the partitions one by one.
import type { Cluster, Node } from 'openapi'
import { count, duration, micros, number, ranges } from '../../base/format'
import { Column, Table } from '../../parts/list/table'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'

type Partition = Cluster['partitions'][number]

function Commits({ node }: { node: Node }) {
    if (!node.commits)
        return <span class="soft">gave no answer</span>
    const { count: n, p50_us: p50, p99_us: p99 } = node.commits
    if (p50 === null || p99 === null)
        return <span class="soft">none</span>
    return <span class="number" title={`${count(n, 'commit')} in the last minute: half of them within ${micros(p50)
    }, 99 of 100 within ${micros(p99)}`}>{micros(p50)} · {micros(p99)}</span>
}

const skew = (ms: number) => `${duration(Math.abs(ms))} ${ms < 0 ? 'behind' : 'ahead'}`

const serverColumns = (partitions: readonly Partition[]): Column<Node>[] => {
    const owned = (node: Node) => partitions.filter(one => one.owner === node.name).map(one => one.partition)
    return [
        {
            key: 'name', name: 'Server', card: 'title',
            cell: node => <a href={`/settings?server=${encodeURIComponent(node.name)}`} tabIndex={-1}
                title="Its settings">{node.name}</a>,
        },
        { key: 'status', name: 'State', width: '96px', card: 'state', cell: node => <Status state={node.status} /> },
        {
            key: 'owned', name: 'Partitions', card: 'note',
            cell: node => node.partitions === 0 ? <span class="soft">none</span>
                : <span class="number" title={ranges(owned(node))}>{number(node.partitions)}
                    <span class="soft">: {ranges(owned(node))}</span></span>,
        },
        { key: 'commits', name: 'Commits, p50 · p99', width: '150px', cell: node => <Commits node={node} /> },
        { key: 'skew', name: 'Its clock', width: '112px', cell: node => skew(node.skew_ms) },
        { key: 'version', name: 'Version', width: '76px', cell: node => node.version },
        { key: 'address', name: 'Address', width: '190px', cell: node => <code>{node.address ?? ''}</code> },
        {
            key: 'started', name: 'Started', width: '120px', card: 'time',
            cell: node => <Time at={node.started_at} />,
        },
    ]
}

const partitionColumns: Column<Partition>[] = [
    {
        key: 'partition', name: 'Partition', width: '110px', card: 'title',
        cell: one => <span class="number">{one.partition}</span>,
    },
    {
        key: 'owner', name: 'Server', card: 'state',
        cell: one => one.owner ?? <Status state="silent" word="none: its jobs wait" />,
    },
    { key: 'since', name: 'Since', width: '170px', card: 'time', cell: one => <Time at={one.since} /> },
    { key: 'former', name: 'Before', card: 'note', cell: one => one.former ?? <span class="soft">none</span> },
    { key: 'epoch', name: 'Owners so far', width: '110px', align: 'end', cell: one => number(one.epoch) },
]

export function Servers({ cluster, isOld }: { cluster: Cluster, isOld: boolean }) {
    return (
        <section>
            <h2>Servers</h2>
            <Table label="Servers" columns={serverColumns(cluster.partitions)} rows={cluster.nodes}
                id={node => node.name} isOld={isOld} />
        </section>
    )
}

export function Partitions({ partitions, isOld }: { partitions: readonly Partition[], isOld: boolean }) {
    return (
        <details>
            <summary>{count(partitions.length, 'partition')}, one by one</summary>
            <Table label="Partitions" columns={partitionColumns} rows={partitions}
                id={one => String(one.partition)} isOld={isOld} />
        </details>
    )
}
