// Runs of the past and of the next hours, by queue or by worker: where it piles up, and where it was late.
import './timeline.css'
import type { Timeline as TimelineDoc, WorkerList } from 'openapi'
import { useMemo } from 'preact/hooks'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { isPhone } from '../../base/choices'
import { query, setQuery } from '../../base/router'
import { exact, parse, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { now } from '../../live/live'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { useSaid } from '../../parts/show/said'
import { lanesOf, missing, sentence } from './lanes'
import { LATE_MS } from './layout'
import { List } from './list'
import { Moves, Plot } from './plot'
import { closeUp, isSpan, moved, spanNames, View, viewOf, zoomed } from './view'

const EVERY_MS = 5000
const BARS = 600
const BARS_PHONE = 300
const filters: Filter[] = [
    { name: 'queue', label: 'Queue', first: true, placeholder: 'All queues, or the name of one' },
    { name: 'worker', label: 'Worker, by its id' },
]

/** Follows the clock by steps of its own, unless the address names a beginning. */
function useView(): View {
    const told = query.value.get('span')
    const span = isSpan(told) ? told : '1h'
    const from = parse(query.value.get('from'))
    const start = Number(useSaid(() => String(viewOf(span, from, now.value).from), [span, from]))
    return useMemo(() => ({ ...viewOf(span, start, 0), follows: from === null }), [span, start, from === null])
}

const goTo = (to: { span?: string, from: number | null }) => setQuery({ ...to.span ? { span: to.span } : {},
    from: to.from === null ? null : new Date(Math.round(to.from / 1000) * 1000).toISOString() }, { replace: true })

function movesOf(view: View): Moves {
    return {
        move: share => goTo({ from: moved(view, share, now.peek()) }),
        zoom: (step, at) => {
            const to = zoomed(view, step, at)
            if (to)
                goTo(view.follows ? { ...to, from: null } : to)
        },
        follow: () => goTo({ from: null }),
        open: (from, until) => goTo(closeUp(from, until)),
    }
}

function Controls({ view, moves, by, asTable }: { view: View, moves: Moves, by: string, asTable: boolean }) {
    const at = view.follows ? now.peek() : (view.from + view.until) / 2
    const choice = (name: string, is: boolean, patch: Record<string, string | null>) =>
        <button class={`button${is ? '' : ' plain'}`} type="button" aria-pressed={is}
            onClick={() => setQuery(patch, { replace: true })}>{name}</button>
    return (
        <div class="row timeline-controls">
            <span class="row" role="group" aria-label="Lanes">
                {choice('By queue', by === 'queue', { by: null })}
                {choice('By worker', by === 'worker', { by: 'worker' })}
            </span>
            <label class="row"><span class="soft">Past</span>
                <select value={view.span} onChange={event => setQuery({ span: event.currentTarget.value })}>
                    {spanNames.map(span => <option key={span} value={span}>{span}</option>)}
                </select></label>
            <span class="row" role="group" aria-label="Move and zoom">
                <button class="button" type="button" onClick={() => moves.move(-0.5)} aria-label="Earlier">◀</button>
                <button class="button" type="button" onClick={moves.follow} disabled={view.follows}>Now</button>
                <button class="button" type="button" onClick={() => moves.move(0.5)} aria-label="Later">▶</button>
                <button class="button" type="button" aria-label="Zoom out" onClick={() => moves.zoom(1, at)}
                    disabled={view.span === spanNames[spanNames.length - 1]}>−</button>
                <button class="button" type="button" aria-label="Zoom in" onClick={() => moves.zoom(-1, at)}
                    disabled={view.span === spanNames[0]}>+</button>
            </span>
            <span class="row" role="group" aria-label="Shown as">
                {choice('Picture', !asTable, { view: null })}
                {choice('Table', asTable, { view: 'table' })}
            </span>
        </div>
    )
}

function Legend() {
    return (
        <p class="row soft small timeline-legend" aria-hidden="true">
            <span><i class="timeline-sample hue-good" /> completed</span>
            <span><i class="timeline-sample is-bad hue-bad" /> failed</span>
            <span><i class="timeline-sample hue-busy" /> running</span>
            <span><i class="timeline-sample is-lead" /> began more than {LATE_MS / 1000} s late</span>
            <span><i class="timeline-sample is-ahead hue-wait" /> ahead, as long as it usually takes</span>
            <span><i class="timeline-sample is-count">7</i> as many others</span>
            <span>Drag it, or use the arrows, + and −.</span>
        </p>
    )
}

export default function Timeline() {
    const view = useView()
    const moves = movesOf(view)
    const by = query.value.get('by') === 'worker' ? 'worker' : 'queue'
    const asTable = query.value.get('view') === 'table'
    const found = readFilters(filters)
    const { data, problem, at, reload, isPrevious } = useResource<TimelineDoc>('/timeline', {
        from: new Date(view.from).toISOString(), until: new Date(view.until).toISOString(), by,
        queue: found.queue?.[0], worker: found.worker?.[0], limit: isPhone.value ? BARS_PHONE : BARS,
    }, { every: view.until > now.peek() ? EVERY_MS : undefined, keep: true })
    const workers = useResource<WorkerList>(by === 'worker' && may('GET', '/workers') ? '/workers' : null)
    const zone = pickZone(zoneChoice.value)
    const lanes = useMemo(() => data ? lanesOf(data, id =>
        workers.data?.workers.find(worker => worker.worker_id === id)?.name ?? null) : [], [data, workers.data])
    const isOld = problem !== null || (isPrevious && data?.by !== by)
    const notes = data && missing(data)
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Timeline <span class="soft small number">{exact(view.from, zone, { seconds: false })} to {
                exact(view.until, zone, { seconds: false, day: view.until - view.from > 86_400_000 })}</span></h1>
            {data && <p>{sentence(data)}</p>}
            <Filters filters={filters} />
            <Controls view={view} moves={moves} by={by} asTable={asTable} />
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {notes && <p class="old-data">{notes}</p>}
            {data && lanes.length === 0 && <Empty title="Nothing ran in this stretch, and nothing is ahead."
                command="belfry submit --every 1m -- echo hello">
                An earlier stretch, or a longer one, may have something.
            </Empty>}
            {asTable ? data && lanes.length > 0 && <List lanes={lanes} isOld={isOld} />
                : lanes.length > 0 && <>
                    <Plot lanes={lanes} view={view} zone={zone} moves={moves} isOld={isOld} />
                    <Legend />
                </>}
        </div>
    )
}
