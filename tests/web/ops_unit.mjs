// What needs no browser of queues, dead letters, workers, calendars, breakers and alerts: their sentences, and what is
// made of a form.
import { run, same, unit } from './rig.mjs'

const [queues, letters, workers, breakers, alerts, calendar] = await Promise.all(['pages/queues/sentence.ts',
    'pages/letters/sentence.ts', 'pages/workers/sentence.ts', 'pages/breakers/sentence.ts', 'pages/alerts/sentence.ts',
    'pages/calendars/document.ts'].map(unit))

const queue = (name, more = {}) => ({ name, queued: 0, running: 0, paused: false, oldest_age_ms: 0, ...more })

await run({
    'queues are said in a sentence': () => {
        same(queues.sentence([queue('a')]), 'Nothing is ready that does not run; 0 run.', 'calm')
        const busy = queue('a', { queued: 1, running: 1, oldest_age_ms: 61_000 })
        same(queues.sentence([busy, queue('b', { paused: true })]),
            '1 execution is ready and waits; 1 runs; the oldest waits 1 min 1 s in a; b is paused.', 'busy')
        same(queues.sentence('abcd'.split('').map(name => queue(name, { paused: true, queued: 2 }))),
            '8 executions are ready and wait; 0 run; 4 queues are paused.', 'many')
    },
    'dead letters are said in a sentence': () => {
        const group = (count, fingerprint_text) => ({ count, fingerprint_text, error_class: 'unknown' })
        same(letters.sentence({ fingerprints: [], complete: true }), 'Nothing has failed for good.', 'none')
        same(letters.sentence({ fingerprints: [group(1, null)], complete: true }),
            '1 execution failed for good, by: unknown.', 'one')
        same(letters.sentence({ fingerprints: [group(240, 'no route to #'), group(2, 'x')], complete: false }),
            'At least 242 executions failed for good in 2 ways; most, 240, by: no route to #.', 'many')
    },
    'workers are said in a sentence': () => {
        same(workers.sentence([{ status: 'active', slots: 8, busy: 1 }, { status: 'away', slots: 8, busy: 8 }]),
            '1 worker takes work, 1 of its 8 slots is busy, 1 is away: not heard lately.', 'two')
        same(workers.sentence([{ status: 'cordoned', slots: 8, busy: 0 }]), 'No worker takes work, 1 is cordoned.',
            'none')
    },
    'breakers and alerts are said in a sentence': () => {
        const breaker = { target: 'smtp', state: 'open', waiting: 3 }
        same(breakers.sentence([breaker]), 'smtp fails and is left alone; 3 executions wait for that.', 'open')
        same(breakers.sentence([{ ...breaker, state: 'closed' }]),
            '1 target was called lately, and it answers well enough.', 'closed')
        same(alerts.sentence([{ level: 'critical' }, { level: 'warning' }], true),
            'More than 2 alerts wait for somebody to look after them, 1 of them critical.', 'alerts')
    },
    'a calendar becomes a form, and the same again': () => {
        const doc = { policy: 'hold', timezone: 'Europe/Berlin', description: 'x',
            dates: ['2026-12-25', '2026-12-24/2027-01-01'], weekly: ['Sat 00:00-Mon 06:00'],
            windows: [{ from: '2026-11-20T22:00', to: '2026-11-21T04:00' }], ical: 'BEGIN' }
        same(calendar.read(calendar.print(doc)), doc, 'all')
        same(calendar.read(calendar.print({})), { policy: 'skip' }, 'nothing')
        same(calendar.read({ ...calendar.print({}), windows: ' now ' }).windows, [{ from: 'now', to: '' }],
            'half a window')
        same(['DE Feiertage.2026.ics', 'ü.ics'].map(calendar.nameOf), ['DE-Feiertage.2026', ''], 'names of files')
    },
})
