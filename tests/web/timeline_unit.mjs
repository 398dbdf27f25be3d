// Timeline, comparison of two runs and load of an hour, as they are told without a browser.
import { check, run, same, unit } from './rig.mjs'

const [view, layout, lanes, difflines, load] = await Promise.all(['pages/timeline/view.ts', 'pages/timeline/layout.ts',
    'pages/timeline/lanes.ts', 'pages/execution/difflines.ts', 'pages/definition/load.ts'].map(unit))

const T0 = Date.parse('2026-11-16T08:00:00Z')
const HOUR = 3_600_000
const iso = ms => new Date(ms).toISOString()
const bar = (id, start, took, more = {}) => ({ execution_id: id, job_id: 'job_1', job_name: id, status: 'completed',
    queue: 'mail', worker_id: 'wrk_1', due_at: iso(start), started_at: iso(start),
    finished_at: took === null ? null : iso(start + took), attempts: 1, ...more })
const lane = more => ({ key: 'mail', name: 'mail', href: null, executions: 0, failed: 0, bars: [], runs: [], rest: [],
    ...more })
const window = { from: T0, until: T0 + 1000_000, span: '15m', follows: false } // 1,000 px: a second each
const draw = (one, rows = 3, now = T0 + 500_000) => layout.drawLane(lane(one), window, 1000, rows, now)

await run({
    'a picture follows the clock in steps, and stays where one has moved it': () => {
        const now = T0 + 12_345
        const live = view.viewOf('1h', null, now)
        check(live.follows && Math.abs(live.from - (now - HOUR)) < 60_000 && live.until > now + HOUR / 4, 'it follows')
        same(view.viewOf('1h', null, now + 500).from, live.from, 'half a second later')
        const back = view.viewOf('1h', view.moved(live, -0.5, now), now)
        check(!back.follows && back.from < live.from, 'earlier')
        check(view.moved({ ...live, from: now + 40 * 24 * HOUR, until: now + 41 * 24 * HOUR }, 1, now) <
            now + 31 * 24 * HOUR, 'never further ahead than the server looks')
        const at = live.from + 0.25 * (live.until - live.from)
        const near = view.zoomed(live, -1, at)
        same(near.span, '15m', 'nearer')
        check(Math.abs((at - near.from) / (20 * 60_000) - 0.25) < 0.01, 'the moment stays where it is')
        same(view.zoomed({ ...live, span: '15m' }, -1, at), null, 'nearer than the nearest')
        const close = view.closeUp(T0, T0 + 600_000)
        check(close.from < T0 && close.from + 20 * 60_000 > T0 + 600_000, 'a block as a whole')
        check(view.ticks(live, 8).length <= 9 && view.ticks(live, 8).every(ms => ms % 60_000 === 0), 'the axis')
    },
    'bars stand beside each other where they can, and below where not': () => {
        const drawn = draw({ bars: [bar('a', T0, 100_000), bar('b', T0 + 50_000, 10_000),
            bar('c', T0 + 200_000, 1)] })
        same(drawn.pieces.map(one => [one.key, one.row, one.x, one.width, one.lead]),
            [['a', 0, 0, 100, 0], ['b', 1, 50, 10, 0], ['c', 0, 200, 4, 0]], 'places')
        same(drawn.rows, 2, 'rows')
    },
    'one that was late has what it waited before it, and one that runs grows': () => {
        const late = bar('late', T0 + 100_000, 10_000, { due_at: iso(T0 + 60_000) })
        const little = bar('little', T0 + 300_000, 10_000, { due_at: iso(T0 + 296_000) })
        const runs = bar('runs', T0 + 400_000, null)
        const drawn = draw({ bars: [late, little, runs] })
        same(drawn.pieces.map(one => [one.key, one.lead, one.width]), [['late', 40, 10], ['little', 0, 10],
            ['runs', 0, 100]], 'leads')
        same(draw({ bars: [runs] }, 3, T0 + 550_000).pieces[0].width, 150, 'later')
    },
    'what has no room is counted, with what the server only counted': () => {
        const bars = Array.from({ length: 10 }, (_, i) => bar(`b${i}`, T0 + 100_000, 50_000,
            i > 7 ? { status: 'failed' } : {}))
        const drawn = draw({ bars, rest: [{ at: iso(T0 + 100_000), executions: 90, failed: 2 }] })
        same(drawn.pieces.length, 3, 'bars')
        same(drawn.blocks.map(one => [one.count, one.failed]), [[97, 4]], 'blocks')
        const { from, until } = drawn.blocks[0]
        check(from <= T0 + 100_000 && T0 + 100_000 < until, 'of when')
        const runs = [{ job_id: 'j', job_name: null, queue: 'mail', at: iso(T0 + 600_000), p50_ms: 30_000,
            held: false }]
        same(draw({ runs }).pieces[0].width, 30, 'as long as it usually takes')
        same(draw({ runs }, 3, T0 + 700_000).pieces.length, 0, 'its moment has come')
    },
    '100,000 are told in a sentence with what is not shown': () => {
        const data = { by: 'queue', lanes: [{ queue: 'mail', executions: 12_399, failed: 3, rest: [],
            bars: [bar('a', T0, 1, { due_at: iso(T0 - 60_000) }), bar('b', T0, null)] }],
        lane_count: 2, executions: 12_400, shown: 2, left_out: 1, truncated: true,
        ahead: { count: 61, truncated: false, rest: [{ at: iso(T0), runs: 7 }],
            runs: [{ job_id: 'j', job_name: 'n', queue: 'night', at: iso(T0), p50_ms: null, held: false }] } }
        same(lanes.sentence(data), '12,400 executions ran here: 3 failed, of the longest 1 began late, 1 runs now; ' +
            '61 are ahead.', 'the sentence')
        const said = lanes.missing(data)
        check(/Of 12,400 executions the 2 longest are bars.*1 execution in 1 quieter.*More ran than/.test(said), said)
        same(lanes.missing({ ...data, shown: 12_400, left_out: 0, truncated: false }), null, 'all is shown')
        same(lanes.lanesOf(data, () => null).map(one => [one.name, one.bars.length, one.runs.length]),
            [['mail', 2, 0], ['night', 0, 1], ['More runs ahead', 0, 0]], 'lanes')
        const byWorker = lanes.lanesOf({ ...data, by: 'worker', lanes: [{ worker_id: 'wrk_1', executions: 1, failed: 0,
            bars: [], rest: [] }] }, id => id === 'wrk_1' ? 'host/1' : null)
        same(byWorker.map(one => one.name), ['host/1', 'Ahead: nobody has taken them', 'More runs ahead'], 'by worker')
    },
    'outputs differ where they say something else, not where the clock does': () => {
        const before = ['2026-11-16 03:00:01 begin 4f2a9c1e77aa', 'rows 120', 'took 2.3s', 'end']
        const now = ['2026-11-17 03:00:09 begin 9d8e7f6a5b4c', 'rows 120', 'took 41 ms', 'end']
        same(difflines.diffLines(before, now), { hunks: [], more: false, noisy: true }, 'only noise')
        same(difflines.diffLines(before, before), { hunks: [], more: false, noisy: false }, 'the same')
        const { hunks } = difflines.diffLines(before, [now[0], 'retry', 'rows 0', ...now.slice(2)])
        same(hunks.map(hunk => hunk.map(line => [line.kind, line.n])), [[['same', 1], ['before', 2], ['after', 2],
            ['after', 3], ['same', 4], ['same', 5]]], 'where it parts')
        const other = Array.from({ length: 500 }, (_, i) => `line ${i % 2 ? i : -i} x`)
        const far = difflines.diffLines(other, other.map((line, i) => i % 40 === 7 ? 'else' : line))
        check(far.more && far.hunks.length === 4, `${far.hunks.length} hunks`)
        const all = difflines.diffLines(other, other.map(line => line + '!'))
        check(all.more && all.hunks.flat().length <= 60, 'all differs')
        same(difflines.diffLines([], ['a']).hunks.flat().length, 1, 'nothing before')
    },
    'the load of an hour counts quarters, and knows quieter ones': () => {
        const steps = Array.from({ length: 96 }, (_, i) => ({ at: iso(T0 + i * 900_000), skipped: 0, held: 0,
            fires: i === 8 ? 12 : i === 9 ? 1 : i === 10 ? 9 : 8 }))
        const forecast = { from: iso(T0), until: iso(T0 + 24 * HOUR), step_ms: 900_000, jobs: 9, truncated: false,
            steps }
        const at = T0 + 2 * HOUR + 60_000
        same(load.loadAt(forecast, at), { at, quarter: 12, hour: 30 }, 'of a moment')
        same(load.loadAt(forecast, at + 72 * HOUR).quarter, 12, 'the same time of another day')
        same(load.quieter(forecast, at), [{ at: T0 + 9 * 900_000, runs: 1 }], 'quieter')
        same(load.quieter(forecast, T0 + 9 * 900_000), [], 'quiet already')
        const all = load.hours(forecast, [at])
        same([all.length, all[2].runs, all.filter(one => one.isIts).length], [24, 30, 1], 'hours')
        same(load.beginOf(T0 + 1), T0 + HOUR, 'begins with the next hour')
    },
})
