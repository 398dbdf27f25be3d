// One lane: its bars in rows, and blocks for what has no room. All of it is drawn for eyes and pointers; the table
// has the same for everybody.
import type { TimelineBar } from 'openapi'
import { compact, count, duration, number } from '../../base/format'
import { state } from '../../base/states'
import { exact, parse } from '../../base/when'
import { Shape } from '../../parts/show/status'
import { Block, Drawn, Lane as LaneData, lateBy, Piece, Run } from './layout'

const ROW_PX = 20
const BLOCK_ROW_PX = 22
const SHAPE_MIN = 16
const NAME_MIN = 56

const clock = (ms: number, zone: string) => exact(ms, zone, { day: false, label: false })

export const nameOf = (one: TimelineBar | Run) => one.job_name ?? one.job_id

function tellBar(bar: TimelineBar, zone: string): string {
    const start = parse(bar.started_at)!
    const end = parse(bar.finished_at)
    const late = lateBy(bar)
    return `${nameOf(bar)}: ${state(bar.status).word}, ${clock(start, zone)}${
        end === null ? ' until now' : `, took ${duration(end - start)}`}${late > 0 ? `, ${duration(late)} late` : ''}${
        bar.attempts > 1 ? `, attempt ${bar.attempts}` : ''} · ${bar.queue}`
}

const tellRun = (run: Run, zone: string) => `${nameOf(run)}: due ${clock(parse(run.at)!, zone)}${
    run.p50_ms ? `, usually ${duration(run.p50_ms)}` : ''}${run.held ? ', held by a calendar' : ''} · ${run.queue}`

function Bar({ piece, zone }: { piece: Piece, zone: string }) {
    const { bar, run, x, width, lead, row } = piece
    const { hue, shape } = state(bar?.status ?? 'planned')
    const text = bar ? tellBar(bar, zone) : tellRun(run!, zone)
    const top = row * ROW_PX
    return (
        <>
            {lead > 0 && <span class="timeline-lead" title={text} style={{ left: x - lead, width: lead, top }} />}
            <a href={bar ? `/executions/${bar.execution_id}` : `/jobs/${run!.job_id}`} tabIndex={-1} title={text}
                draggable={false} style={{ left: x, width, top }}
                class={`timeline-bar hue-${hue}${run ? ' is-ahead' : ''}${hue === 'bad' ? ' is-bad' : ''}${
                    bar?.finished_at === null ? ' is-running' : ''}${width < SHAPE_MIN ? ' is-narrow' : ''}`}>
                {width >= SHAPE_MIN && <Shape shape={shape} />}
                {width >= NAME_MIN && <span class="timeline-name">{nameOf(bar ?? run!)}</span>}
            </a>
        </>
    )
}

function Counted({ block, most, top, zone, open }: {
    block: Block, most: number, top: number, zone: string, open: (from: number, until: number) => void,
}) {
    const failed = block.failed > 0 ? `, ${number(block.failed)} failed` : ''
    return (
        <button type="button" tabIndex={-1} class={`timeline-block number${block.failed > 0 ? ' is-bad' : ''}`}
            title={`${clock(block.from, zone)} to ${clock(block.until, zone)}: ${
                count(block.count, 'other')}${failed}: zoom in`}
            style={{ left: block.x, width: block.width, top, '--share': `${12 + 28 * block.count / most}%` }}
            onClick={() => open(block.from, block.until)}>
            {block.failed > 0 && <Shape shape="cross" />}
            {compact(block.count)}
        </button>
    )
}

export function Lane({ lane, drawn, zone, open }: {
    lane: LaneData, drawn: Drawn, zone: string, open: (from: number, until: number) => void,
}) {
    const top = drawn.rows * ROW_PX
    const bars = drawn.pieces.length > 0 || drawn.blocks.length === 0 ? top : 0
    const most = Math.max(1, ...drawn.blocks.map(block => block.count))
    const height = bars + (drawn.blocks.length > 0 ? BLOCK_ROW_PX : 0)
    return (
        <div class="timeline-lane">
            <div class="timeline-label">
                {lane.href ? <a href={lane.href} title={lane.name}>{lane.name}</a>
                    : <span title={lane.name}>{lane.name}</span>}
                {lane.executions > 0 && <span class="soft small number">{number(lane.executions)}{
                    lane.failed > 0 && <span class="hue-bad"> · {number(lane.failed)} failed</span>}</span>}
            </div>
            <div class="timeline-bars" aria-hidden="true" style={{ height }}>
                {drawn.pieces.map(piece => <Bar key={piece.key} piece={piece} zone={zone} />)}
                {drawn.blocks.map(block => <Counted key={block.x} block={block} most={most} top={bars} zone={zone}
                    open={open} />)}
            </div>
        </div>
    )
}
