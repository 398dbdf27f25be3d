// Where the bars of a lane stand: in as few rows as they need, and what has no room in these as blocks with counts.
// Pure.
import type { TimelineAhead, TimelineBar, TimelineLane } from 'openapi'
import { parse } from '../../base/when'
import type { View } from './view'

/** Later than this is late, as the objective of starts has it (docs/runbook.md). */
export const LATE_MS = 5000
const BAR_MIN = 4
const BLOCK_PX = 38 // has room for a count
const GAP_PX = 1

export type Run = TimelineAhead['runs'][number]
type Rest = TimelineLane['rest'][number]

export interface Lane {
    key: string
    name: string
    href: string | null
    executions: number
    failed: number
    bars: readonly TimelineBar[]
    runs: readonly Run[]
    rest: readonly Rest[]
}

export interface Piece {
    key: string
    x: number
    width: number
    /** Before it, from when it should have begun; 0: it was on time. */
    lead: number
    row: number
    bar: TimelineBar | null
    run: Run | null
}

export interface Block { x: number, width: number, count: number, failed: number, from: number, until: number }
export interface Drawn { rows: number, pieces: Piece[], blocks: Block[] }

export const lateBy = (bar: TimelineBar): number => {
    const due = parse(bar.due_at)
    const late = due === null ? 0 : parse(bar.started_at)! - due
    return late > LATE_MS ? late : 0
}

export function drawLane(lane: Lane, view: View, width: number, rowsMax: number, now: number): Drawn {
    const scale = width / (view.until - view.from)
    const place = (ms: number) => Math.max(0, Math.min(width, Math.round((ms - view.from) * scale)))
    const candidates: Omit<Piece, 'row'>[] = []
    for (const bar of lane.bars) {
        const start = parse(bar.started_at)!
        const end = parse(bar.finished_at) ?? Math.max(now, start)
        if (end < view.from || start - lateBy(bar) > view.until)
            continue
        const x = place(start)
        const lead = lateBy(bar) > 0 ? Math.max(2, x - place(start - lateBy(bar))) : 0
        candidates.push({ key: bar.execution_id, x, lead: Math.min(lead, x), bar, run: null,
            width: Math.max(BAR_MIN, place(end) - x) })
    }
    for (const run of lane.runs) {
        const at = parse(run.at)!
        if (at < Math.max(now, view.from) || at > view.until)
            continue
        candidates.push({ key: `${run.job_id} ${run.at}`, x: place(at), lead: 0, bar: null, run,
            width: Math.max(BAR_MIN, place(at + (run.p50_ms ?? 0)) - place(at)) })
    }
    candidates.sort((a, b) => a.x - a.lead - (b.x - b.lead))
    const blocks = new Blocks(view, width)
    const ends: number[] = []
    const pieces: Piece[] = []
    for (const one of candidates) {
        let row = ends.findIndex(end => end <= one.x - one.lead)
        if (row < 0 && ends.length < rowsMax)
            row = ends.length
        if (row < 0) {
            blocks.add(one.bar ? parse(one.bar.started_at)! : parse(one.run!.at)!, 1, isFailed(one.bar) ? 1 : 0)
            continue
        }
        ends[row] = one.x + one.width + GAP_PX
        pieces.push({ ...one, row })
    }
    for (const rest of lane.rest)
        blocks.add(parse(rest.at)!, rest.executions, rest.failed)
    return { rows: Math.max(1, ends.length), pieces, blocks: blocks.all() }
}

const isFailed = (bar: TimelineBar | null) => bar?.status === 'failed' || bar?.status === 'timeout'

/** Counts in steps that are wide enough to say them. */
class Blocks {
    private readonly counts: { count: number, failed: number }[]
    private readonly stepMs: number

    constructor(private readonly view: View, private readonly width: number) {
        const n = Math.max(1, Math.floor(width / BLOCK_PX))
        this.counts = Array.from({ length: n }, () => ({ count: 0, failed: 0 }))
        this.stepMs = (view.until - view.from) / n
    }

    /** What began before the stretch counts where it begins to be seen. */
    add(at: number, count: number, failed: number): void {
        const i = Math.floor((at - this.view.from) / this.stepMs)
        if (i >= this.counts.length)
            return
        const cell = this.counts[Math.max(0, i)]
        cell.count += count
        cell.failed += failed
    }

    all(): Block[] {
        const { view, width, stepMs, counts } = this
        const at = (i: number) => Math.round(i * width / counts.length)
        return counts.map((cell, i) => ({ ...cell, x: at(i), width: at(i + 1) - at(i) - GAP_PX,
            from: view.from + i * stepMs, until: view.from + (i + 1) * stepMs })).filter(cell => cell.count > 0)
    }
}
