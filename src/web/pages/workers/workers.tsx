// The workers: how busy each is, what it takes, and whether it gets more.
import './workers.css'
import { useMemo } from 'preact/hooks'
import type { Worker, WorkerList } from 'openapi'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count, number } from '../../base/format'
import { go, query } from '../../base/router'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Column, Table } from '../../parts/list/table'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { EachDeed, useEach } from '../common/each'
import { usePicks } from '../common/picks'
import { callWorker } from '../common/workerdeeds'
import { sentence } from './sentence'
import { Slots } from './slots'

const EVERY_MS = 3000
const filters: Filter[] = [
    { name: 'name', label: 'Name', first: true, placeholder: 'Part of a name …' },
    { name: 'status', label: 'Status', words: ['active', 'cordoned', 'draining', 'away'], many: true },
    { name: 'queue', label: 'Serves the queue' },
    { name: 'handler', label: 'Knows the handler' },
]

const deeds: EachDeed[] = [
    { verb: 'Cordon', done: 'cordoned', touches: '/workers', call: id => callWorker(id, 'cordon'),
        meaning: 'They get nothing new; what they run goes on, and they stay. Uncordon lifts that.' },
    { verb: 'Uncordon', done: 'uncordoned', touches: '/workers', call: id => callWorker(id, 'uncordon'),
        meaning: 'They take work again.' },
    { verb: 'Drain', done: 'asked to leave', danger: true, touches: '/workers', call: id => callWorker(id, 'drain'),
        meaning: 'They take nothing new, end what they run as far as they may, and leave. This cannot be undone.' },
]

export const takes = (worker: Worker): string => [
    worker.commands ? 'commands' : '', ...worker.handlers,
].filter(Boolean).join(', ') || 'nothing'

const columns: Column<Worker>[] = [
    { key: 'name', name: 'Name', card: 'title',
        cell: worker => <a href={`/workers/${worker.worker_id}`} tabIndex={-1}>{worker.name}</a> },
    { key: 'status', name: 'State', width: '116px', card: 'state',
        cell: worker => <Status state={worker.status} title={worker.cordon_reason ?? undefined} /> },
    { key: 'slots', name: 'Slots', width: '200px', card: 'note', cell: worker => <Slots worker={worker} /> },
    { key: 'queues', name: 'Serves', width: '20%',
        cell: worker => worker.queues.length === 0 ? <span class="soft">all queues</span>
            : <span title={worker.queues.join(', ')}>{worker.queues.join(', ')}</span> },
    { key: 'takes', name: 'Takes', width: '20%', cell: worker => <span title={takes(worker)}>{takes(worker)}</span> },
    { key: 'seen', name: 'Heard', width: '110px', card: 'time', cell: worker => <Time at={worker.seen_at} /> },
]

function fits(worker: Worker, found: Record<string, string[]>): boolean {
    const { name, status, queue, handler } = found
    return (!name || worker.name.toLowerCase().includes(name[0].toLowerCase())) &&
        (!status || status.includes(worker.status)) &&
        (!queue || worker.queues.length === 0 || worker.queues.includes(queue[0])) &&
        (!handler || worker.handlers.includes(handler[0]))
}

export default function Workers() {
    const { data, problem, at, reload } = useResource<WorkerList>('/workers', {}, { every: EVERY_MS })
    const search = query.value.toString()
    const shown = useMemo(() => {
        const found = readFilters(filters)
        return data?.workers.filter(worker => fits(worker, found)) ?? []
    }, [data, search])
    const picks = usePicks(search)
    const each = useEach()
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Workers <span class="soft number">{data && number(data.workers.length)}</span></h1>
            {data && data.workers.length > 0 && <p>{sentence(data.workers)}</p>}
            <Filters filters={filters} />
            {picks.ids.size > 0 && <div class="row" role="region" aria-label="Actions">
                <strong>{count(picks.ids.size, 'worker')}</strong>
                {deeds.filter(deed => may('POST', `/workers/{}/${deed.verb.toLowerCase()}`)).map(deed =>
                    <button key={deed.verb} class={`button${deed.danger ? ' danger' : ''}`} type="button"
                        onClick={async () => {
                            if (await each.run(deed, 'worker', [...picks.ids]))
                                picks.clear()
                        }}>{deed.verb} …</button>)}
                <button class="button plain" type="button" onClick={picks.clear}>Pick none</button>
            </div>}
            {each.shown}
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {shown.length > 0
                ? <Table label="Workers" columns={columns} rows={shown} id={worker => worker.worker_id} picks={picks}
                    open={worker => go(`/workers/${worker.worker_id}`)} isOld={problem !== null} />
                : data && <Nothing isFiltered={data.workers.length > 0} />}
        </div>
    )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
    return isFiltered ? <Empty title="No worker fits these filters." />
        : <Empty title="There is no worker, so nothing can run."
            command="belfry worker --server http://127.0.0.1:7420 --token-file belfry-data/worker.key">
            It appears here as soon as it has registered. A server runs jobs itself unless it was started
            with <code>--no-worker</code>.
        </Empty>
}
