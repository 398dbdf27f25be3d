// What needs no browser: how things are said, addresses, server-sent events.
import { createRequire } from 'node:module'
import { check, run, same, unit } from './rig.mjs'

const [format, when, query, states, sse, said, blockers] = await Promise.all(['base/format.ts', 'base/when.ts',
    'base/query.ts', 'base/states.ts', 'live/sse.ts', 'pages/overview/sentence.ts', 'base/blockers.ts'].map(unit))
const api = createRequire(import.meta.url)('../../src/web/openapi.json').components.schemas

await run({
    'durations are said as people do': () => {
        const cases = [[0, '0 ms'], [412, '412 ms'], [1000, '1 s'], [999.7, '1 s'], [12_400, '12.4 s'],
            [59_949, '59.9 s'],
            [59_950, '1 min'], [200_000, '3 min 20 s'], [3_599_700, '1 h'], [7_500_000, '2 h 5 min'],
            [273_600_000, '3 d 4 h'], [86_400_000, '1 d'], [-1500, '-1.5 s']]
        for (const [ms, text] of cases)
            same(format.duration(ms), text, `${ms} ms`)
    },
    'numbers, bytes and ids are short': () => {
        same(format.number(1234567), '1,234,567', 'number')
        same([950, 1234, 56_700, 3_400_000].map(format.compact), ['950', '1.2 k', '57 k', '3.4 M'], 'compact')
        same([9960, 999_600, 999_400_000, 2e12, 999.97].map(format.compact),
            ['10 k', '1.0 M', '999 M', '2.0 T', '1.0 k'], 'none is a thousand of something')
        same([0, 1023, 1229, 157_286_400].map(format.bytes), ['0 B', '1023 B', '1.2 KiB', '150 MiB'], 'bytes')
        same([1, 2].map(n => format.count(n, 'job')), ['1 job', '2 jobs'], 'count')
        same(format.shortId('job_0s86ejspw0400'), 'job_…pw0400', 'id')
        same(format.shortId('nightly'), 'nightly', 'a name')
    },
    'times carry their zone, also where clocks are set': () => {
        const winter = Date.parse('2026-03-29T00:59:59Z')
        same(when.exact(winter, 'UTC'), '2026-03-29 00:59:59 UTC', 'UTC')
        same(when.exact(winter, 'Europe/Berlin'), '2026-03-29 01:59:59 Berlin', 'before the gap')
        same(when.exact(winter + 1000, 'Europe/Berlin'), '2026-03-29 03:00:00 Berlin', 'behind it')
        const summer = Date.parse('2026-10-25T00:30:00Z')
        same(when.exact(summer, 'Europe/Berlin'), '2026-10-25 02:30:00 Berlin (UTC+2)', 'the first half past two')
        same(when.exact(summer + 3_600_000, 'Europe/Berlin'), '2026-10-25 02:30:00 Berlin (UTC+1)', 'the second one')
        same(when.exact(summer - 3_600_000, 'Europe/Berlin'), '2026-10-25 01:30:00 Berlin', 'an hour before')
        same(when.exact(summer + 7_200_000, 'Europe/Berlin'), '2026-10-25 03:30:00 Berlin', 'an hour later')
        same(when.exact(0, 'America/New_York', { seconds: false }), '1969-12-31 19:00 New York', 'New York')
        same(when.pickZone('job', 'Not/AZone'), 'UTC', 'a zone that nobody knows')
        same(when.pickZone('job', 'Asia/Tokyo'), 'Asia/Tokyo', "the job's own")
    },
    'times below a day are relative': () => {
        const now = Date.parse('2026-11-16T12:00:00Z')
        same(when.relative(now - 59_700, now, 'UTC'), '1 min ago', 'nearly a minute')
        const cases = [[0, 'now'], [-5000, '5 s ago'], [90_000, 'in 1 min'], [-7_500_000, '2 h 5 min ago'],
            [86_400_000, '2026-11-17 12:00 UTC']]
        for (const [away, text] of cases)
            same(when.relative(now + away, now, 'UTC'), text, `${away} ms away`)
    },
    'addresses are read and printed': () => {
        same(query.matchPath('/jobs/:id/:tab?', '/jobs/a%20b/runs'), { id: 'a b', tab: 'runs' }, 'both')
        same(query.matchPath('/jobs/:id/:tab?', '/jobs/x'), { id: 'x' }, 'without a tab')
        same(query.matchPath('/jobs/:id/:tab?', '/jobs'), null, 'without an id')
        same(query.matchPath('/jobs', '/jobs/x'), null, 'too long')
        same(query.matchPath('/jobs/:id', '/jobs/%'), null, 'a bad escape')
        same(query.printQuery({ a: ['x', 'y&'], b: '', c: null, d: 0 }), '?a=x&a=y%26&d=0', 'query')
    },
    'what a browser remembers of another version is not taken': async () => {
        const kept = { 'belfry.list': '{"a":1}', 'belfry.on': '"yes"', 'belfry.word': 'null', 'belfry.broken': '{',
            'belfry.good': '["x"]' }
        globalThis.localStorage = { getItem: name => kept[name] ?? null }
        const { recall } = await unit('base/keep.ts')
        same([recall('list', ['usual']), recall('on', false), recall('word', 'usual'), recall('broken', 1),
            recall('none', 'usual'), recall('good', [])],
        [['usual'], false, 'usual', 1, 'usual', ['x']], 'remembered')
        globalThis.localStorage = { getItem: () => { throw new Error('private') } }
        same(recall('list', ['usual']), ['usual'], 'nothing may be kept')
    },
    'many ask for work, a few at a time, the newest first, and none waits twice': async () => {
        const { few } = await unit('base/few.ts')
        const said = []
        const ends = []
        const work = ['a', 'b', 'c', 'd'].map(name => () => {
            said.push(name)
            return new Promise(end => ends.push(end))
        })
        const asking = few(1)
        const settle = () => new Promise(resolve => setImmediate(resolve))
        work.forEach(asking.ask)
        work.forEach(asking.ask) // while the first is slow
        asking.drop(work[1])
        while (said.length > 0 && ends.length > 0) {
            ends.pop()()
            await settle()
        }
        same(said, ['a', 'd', 'c', 'a'], 'in order')
    },
    'every word of the API for how something is has a shape': () => {
        const known = new Set(states.knownStates())
        for (const name of ['JobStatus', 'Phase', 'ExecutionStatus', 'Outcome'])
            for (const word of api[name].enum)
                check(known.has(word), `${name} ${word} has no shape in base/states.ts`)
        for (const word of api.Node.properties.status.enum)
            check(known.has(word), `a server that is ${word} has no shape`)
        for (const kind of api.Blocker.properties.kind.enum)
            check(kind === 'finished' || !blockers.waitsFor(kind).includes(kind + '_') && blockers.waitsFor(kind) !==
                `for ${kind.replace(/_/g, ' ')}`, `the blocker ${kind} has no words in base/blockers.ts`)
    },
    'events are read however they are cut': () => {
        const text = 'event: tick\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: ping\n\nid: 7\ndata:x\n\n'
        const want = [{ event: 'tick', data: '{"a":\n1}', id: null }, { event: 'message', data: 'x', id: '7' }]
        for (let cut = 0; cut <= text.length; cut++) {
            const reader = new sse.SseReader()
            same([...reader.feed(text.slice(0, cut)), ...reader.feed(text.slice(cut))], want, `cut at ${cut}`)
        }
    },
    'the overview is said in a sentence': () => {
        const failed = { count: 0, when: 'since 03:00 UTC', usualPerHour: null, href: '/x' }
        const now = { running: 0, failed, blockers: {}, workers: 1 }
        const text = parts => parts.map(part => part.text).join('')
        same(text(said.sentence(now)), 'Nothing runs, nothing waits that could run.', 'calm')
        const trouble = said.sentence({ ...now, running: 2, workers: 0,
            failed: { ...failed, count: 3, usualPerHour: 1 }, blockers: { rate: 24, no_worker: 190, scheduled: 9 } })
        same(text(trouble), '3 runs failed since 03:00 UTC (usually 1), 2 are running, ' +
            '214 wait: 190 for a worker that could run them, 24 for a rate limit, there is no worker.', 'trouble')
        same(trouble.filter(part => part.href).map(part => /^\d*|there/.exec(part.text)[0] + ' ' + part.href), [
            '3 /x', '2 /executions?status=running',
            '214 /executions?status=queued&status=blocked', '190 /executions?status=queued&status=blocked',
            '24 /executions?status=queued&status=blocked', ' /workers'], 'each number leads to what it counts')
        same(said.sentence({ ...now, blockers: { job_paused: 1 } }).at(-2),
            { text: '1 waits for a paused job', href: '/jobs?status=paused' }, 'one reason')
    },
})
