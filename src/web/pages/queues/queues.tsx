// All queues: how deep they are and how old, over the last hour, and which are paused or limited.
import './queues.css'
import { useMemo } from 'preact/hooks'
import type { Queue } from 'openapi'
import { api } from '../../api/client'
import { may } from '../../api/session'
import { count, duration, number } from '../../base/format'
import { part } from '../../base/query'
import { go, query, setQuery } from '../../base/router'
import { liveState, tick } from '../../live/live'
import { Menu } from '../../parts/ask/menu'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Column, Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { EachDeed, useEach } from '../common/each'
import { usePicks } from '../common/picks'
import { Queues, useQueues } from './all'
import { AgeChart, DepthChart } from '../common/queuecharts'
import { sentence } from './sentence'
import { Spark } from './spark'

const filters: Filter[] = [
    { name: 'name', label: 'Name', first: true, placeholder: 'Part of a name …' },
    { name: 'is', label: 'State', words: ['paused', 'limited', 'waiting', 'running'], many: true },
]
const orders: Record<string, { name: string, of: (queue: Queue) => number }> = {
    depth: { name: 'deepest first', of: queue => queue.depth },
    age: { name: 'oldest first', of: queue => queue.oldest_age_ms },
    running: { name: 'busiest first', of: queue => queue.running },
    name: { name: 'by name', of: () => 0 },
}

const is: Record<string, (queue: Queue) => boolean> = {
    paused: queue => queue.paused,
    limited: queue => queue.concurrency !== null,
    waiting: queue => queue.queued > 0,
    running: queue => queue.running > 0,
}

const deed = (verb: 'pause' | 'resume'): EachDeed => ({
    verb: verb === 'pause' ? 'Pause' : 'Resume', done: `${verb}d`, touches: '/queues',
    meaning: verb === 'pause' ? 'What runs goes on; nothing new starts in them until they are resumed.'
        : 'What waits in them starts, as far as there are workers and limits allow it.',
    call: name => api.post(`/queues/${part(name)}/${verb}`),
})

const stateOf = (queue: Queue) => queue.paused ? 'paused' : queue.running > 0 ? 'running'
    : queue.queued > 0 ? 'waiting' : 'idle'

function columnsOf({ numbers }: Queues): Column<Queue>[] {
    return [
        { key: 'name', name: 'Name', card: 'title',
            cell: queue => <a href={`/queues/${part(queue.name)}`} tabIndex={-1}>{queue.name}</a> },
        { key: 'state', name: 'State', width: '104px', card: 'state',
            cell: queue => <Status state={stateOf({ ...queue, ...numbers(queue) })} /> },
        { key: 'depth', name: 'Depth', width: '88px', align: 'end', cell: queue => number(numbers(queue).depth) },
        { key: 'spark', name: 'Last hour', width: '128px',
            cell: queue => queue.queued + queue.retrying + queue.running > 0 && <Spark queue={queue.name} /> },
        { key: 'running', name: 'Running', width: '96px', align: 'end',
            cell: queue => runningOf(numbers(queue), queue) },
        { key: 'age', name: 'Oldest waits', width: '112px', align: 'end', card: 'time',
            cell: queue => queue.oldest_age_ms > 0 ? duration(queue.oldest_age_ms) : '' },
        { key: 'limit', name: 'At most', width: '84px', align: 'end',
            cell: queue => queue.concurrency === null ? '' : number(queue.concurrency) },
        { key: 'note', name: 'Ready', width: '84px', align: 'end', card: 'note',
            cell: queue => <><span class="queues-note">{number(numbers(queue).depth)} deep, </span>
                {number(numbers(queue).queued)}<span class="queues-note"> ready</span></> },
    ]
}

const runningOf = ({ running }: { running: number }, queue: Queue) =>
    queue.concurrency !== null && running >= queue.concurrency
        ? <span class="hue-hold" title="as many as its limit allows">{number(running)} full</span> : number(running)

function useShown(all: Queue[] | null): Queue[] {
    const found = readFilters(filters)
    const name = (found.name?.[0] ?? '').toLowerCase()
    const states = found.is ?? []
    const order = query.value.get('order') ?? 'depth'
    return useMemo(() => {
        const { of } = orders[order] ?? orders.depth
        return (all ?? []).filter(queue => queue.name.toLowerCase().includes(name) &&
            (states.length === 0 || states.some(state => is[state](queue)))).sort((a, b) => of(b) - of(a))
    }, [all, name, states.join(), order])
}

export default function QueuesPage() {
    const list = useQueues()
    const shown = useShown(list.queues)
    const picks = usePicks(query.value.toString())
    const each = useEach()
    const isOld = liveState.value === 'old' || liveState.value === 'away' || list.problem !== null
    const columns = useMemo(() => columnsOf(list), [list.queues, tick.value?.queues])
    const order = query.value.get('order') ?? 'depth'
    const run = async (verb: 'pause' | 'resume') => {
        if (await each.run(deed(verb), 'queue', [...picks.ids])) {
            picks.clear()
            list.reload()
        }
    }
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1}>Queues <span class="soft number">
                    {list.isWhole && number(list.queues!.length)}</span></h1>
                <Menu label={`Order: ${(orders[order] ?? orders.depth).name}`} end
                    items={Object.entries(orders).map(([key, { name }]) => ({
                        name, chosen: key === order, run: () => setQuery({ order: key === 'depth' ? null : key }),
                    }))} />
            </div>
            {list.queues && list.queues.length > 0 && <>
                <p class={isOld ? 'is-old' : ''}>{sentence(list.queues)}</p>
                <div class="grid"><DepthChart /><AgeChart /></div>
            </>}
            <Filters filters={filters} />
            {picks.ids.size > 0 && <div class="row" role="region" aria-label="Actions">
                <strong>{count(picks.ids.size, 'queue')}</strong>
                {(['pause', 'resume'] as const).filter(verb => may('POST', `/queues/{}/${verb}`)).map(verb =>
                    <button key={verb} class="button" type="button" onClick={() => void run(verb)}>
                        {deed(verb).verb} …</button>)}
                <button class="button plain" type="button" onClick={picks.clear}>Pick none</button>
            </div>}
            {each.shown}
            <OldData problem={list.problem} at={list.at} retry={list.reload} />
            {shown.length > 0
                ? <Table label="Queues" columns={columns} rows={shown} id={queue => queue.name} picks={picks}
                    open={queue => go(`/queues/${part(queue.name)}`)} isOld={isOld} loading={!list.isWhole} />
                : list.isWhole && <Nothing isFiltered={list.queues!.length > 0} />}
        </div>
    )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
    return isFiltered ? <Empty title="No queue fits these filters." />
        : <Empty title="There are no queues yet." command="belfry submit --queue mail -- echo hello">
            A queue is there with its first job. It appears here with what waits in it, and can be paused and limited.
        </Empty>
}
