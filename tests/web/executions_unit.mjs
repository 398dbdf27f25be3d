// What the pages of executions need no browser for: terminal colours, heights of rows, what looks like an error,
// stretches of time, filters.
import { check, run, same, unit } from './rig.mjs'

const [ansi, style, heights, search, stretches, said, moment, deeds] = await Promise.all([
    'parts/log/ansi.ts', 'parts/log/style.ts', 'parts/log/heights.ts', 'parts/log/search.ts',
    'pages/execution/stretches.ts', 'pages/execution/sentence.ts', 'base/moment.ts', 'pages/executions/deeds.ts',
].map(unit))

const ESC = '\x1b'
const texts = line => ansi.parse(line).spans.map(span => span.text)
const styles = line => ansi.parse(line).spans.map(span => `${span.text}:${style.classOf(span.style)}`)
const started = Date.parse('2026-11-16T12:00:00Z')
const at = ms => new Date(started + ms).toISOString()

await run({
    'colours of terminals become hues': () => {
        same(styles('plain'), ['plain:'], 'no colour')
        same(styles(`a${ESC}[31mb${ESC}[1mc${ESC}[0md`), ['a:', 'b:fg-red', 'c:fg-red is-bold', 'd:'], 'a reset')
        same(styles(`${ESC}[mx`), ['x:'], 'an empty reset')
        same(styles(`${ESC}[92;44mx`), ['x:fg-green bg-blue'], 'bright, on a ground')
        same(styles(`${ESC}[38;5;208mo${ESC}[38;2;255;0;255mm${ESC}[38:2::0:200:0mg${ESC}[38:5:21mb`),
            ['o:fg-yellow', 'm:fg-magenta', 'g:fg-green', 'b:fg-blue'], '256 and true colours')
        same(styles(`${ESC}[38;5;1;4mx`), ['x:fg-red is-under'], 'what follows an index')
        same(styles(`${ESC}[7mx${ESC}[27my`), ['x:bg-white', 'y:'], 'turned')
        same(styles(`${ESC}[8mhidden`), ['hidden:'], 'nothing is hidden')
        same(styles(`${ESC}[38mx${ESC}[48;2;1my${ESC}[999;-3mz`).length > 0, true, 'nonsense')
    },
    'the style of a line goes on in the next': () => {
        const { after } = ansi.parse(`${ESC}[31mopen`)
        same(style.classOf(ansi.parse('next', after).spans[0].style), 'fg-red', 'the next line')
        same(style.classOf(ansi.parse(`${ESC}[0m`, after).after), '', 'a reset ends it')
    },
    'other sequences are left out, and hide nothing': () => {
        same(texts(`a${ESC}[2J${ESC}[10;5Hb${ESC}[?25lc`).join(''), 'abc', 'the cursor')
        same(texts(`${ESC}]0;title\x07a${ESC}]8;;http://evil${ESC}\\b${ESC}]8;;${ESC}\\`).join(''), 'ab', 'links')
        same(texts(`${ESC}]0;rm -rf`).join(''), '0;rm -rf', 'one that is not closed')
        same(texts(`x${ESC}[31`).join(''), 'x31', 'a colour that is cut')
        same(texts(`${ESC}(Ba${ESC}=b`).join(''), 'ab', 'two letters')
        same(texts('a\x07b\x00c\x7f').join(''), 'a\u2407b\u2400c\u2421', 'signs')
        same(texts('a\tb').join(''), 'a\tb', 'tabs stay')
        same(texts('<img src=x onerror=1>').join(''), '<img src=x onerror=1>', 'text is text')
    },
    'a carriage return writes over the line': () => {
        same(texts('10%\r20%\r100%').join(''), '100%', 'a progress bar')
        same(texts('abcdef\rxy').join(''), 'xycdef', 'what is longer stays')
        same(texts(`loading...\r${ESC}[Kdone`).join(''), 'done', 'erased to its end')
        same(texts(`loading\r${ESC}[2Kdone`).join(''), 'done', 'erased')
        same(texts('abc\r').join(''), 'abc', 'at the end')
        same(texts('ab\b\b\bx').join(''), 'xb', 'backspaces')
        same(styles(`${ESC}[31mred\r${ESC}[32mgr`), ['gr:fg-green', 'd:fg-red'], 'colours')
    },
    'no line takes long, and none has many pieces': () => {
        const hostile = [`${ESC}[31mx`, `${ESC}]`, `${ESC}[1;`, '\r', '\b', `${ESC}[2K`, `${ESC}P`, 'x\ry', `${ESC} `]
        for (const piece of hostile) {
            const line = piece.repeat(16384 / piece.length)
            const begin = performance.now()
            const { spans } = ansi.parse(line)
            check(performance.now() - begin < 1000, `${JSON.stringify(piece)} took too long`)
            check(spans.length <= 100, `${JSON.stringify(piece)} has ${spans.length} pieces`)
        }
        const cpu = process.cpuUsage()
        for (const piece of [`${ESC}[2K`, `${ESC}[1K`, '\b\b'])
            ansi.parse('x'.repeat(8192) + piece.repeat(8192 / piece.length))
        const { user } = process.cpuUsage(cpu)
        check(user < 50_000, `a long line that is erased again and again takes ${user} us`)
        const many = Array.from({ length: 500 }, (_, i) => `${ESC}[3${1 + i % 2}m${i} `).join('')
        same(texts(many).join(''), Array.from({ length: 500 }, (_, i) => `${i} `).join(''), 'all of the text')
        check(ansi.parse(many).spans.length <= 100, 'pieces')
    },
    'random bytes break nothing': () => {
        const letters = [ESC, '[', ']', ';', ':', 'm', 'K', '3', '8', '\r', '\b', '\x07', '\x9b', '😀', 'x', '?']
        let seed = 7
        for (let i = 0; i < 2000; i++) {
            const line = Array.from({ length: 30 }, () => letters[(seed = seed * 48271 % 2147483647) % letters.length])
            const shown = texts(line.join('')).join('')
            check(!/[\x00-\x08\x0a-\x1f\x7f-\x9f]/.test(shown), `${JSON.stringify(line.join(''))} shows ${shown}`)
        }
    },
    'rows know where they are, whatever their heights': () => {
        const rows = new heights.Heights(20)
        rows.count = 1_000_000
        same([rows.top(0), rows.top(1000), rows.total], [0, 20_000, 20_000_000], 'as usual')
        check(rows.set(10, 60) && rows.set(600_000, 120) && !rows.set(10, 60), 'news')
        same([10, 11, 600_001, 1_000_000].map(row => rows.top(row)), [200, 260, 12_000_160, 20_000_140], 'measured')
        for (const row of [0, 9, 10, 11, 511, 512, 600_000, 600_001, 999_999])
            same([rows.at(rows.top(row)), rows.at(rows.top(row + 1) - 1)], [row, row], `row ${row}`)
        same([rows.at(-5), rows.at(1e12)], [0, 999_999], 'beyond')
    },
    'the first error is one': () => {
        for (const line of ['ERROR: no', 'ValueError: x', 'Traceback (most recent call last):', 'panic: x',
            'cannot open',
            `${ESC}[31mFatal${ESC}[0m: x`, 'it failed', '0 errors, 1 failed'])
            check(search.looksWrong(line, 'stdout'), line)
        for (const line of ['ok', '0 errors', 'no failures', 'errors: 0', 'all is well'])
            check(!search.looksWrong(line, 'stdout'), line)
    },
    'all of a log is searched, also what comes later': async () => {
        const lines = Array.from({ length: 12_000 }, (_, i) => ({ n: i + 1, text: i % 100 === 99 ? 'Needle' : 'hay' }))
        let reads = 0
        const source = {
            isWhole: true,
            read: async ({ from }, limit) => {
                reads++
                const found = lines.slice(from - 1, from - 1 + limit)
                return { lines: found, end: { more: from - 1 + limit < lines.length } }
            },
        }
        const all = new search.LogSearch(source, search.hasText('needle'), () => {})
        await all.run()
        same([all.found.length, all.found[0], all.looked, reads], [120, 99, 12_000, 3], 'found')
        lines.push({ n: 12_001, text: 'needle' })
        await all.run()
        same([all.found.length, all.looked], [121, 12_001], 'later')
        same([all.next(99), all.next(100), all.next(13_000), all.next(0, true)], [0, 1, 0, 120], 'around the end')
        const first = new search.LogSearch(source, search.hasText('Needle'), () => {}, 1)
        await first.run()
        same(first.found, [99], 'the first alone')
    },
    'a life is stretches of time': () => {
        const steps = [[0, 'create', 'queued'], [100, 'lease', 'running'], [1100, 'retry', 'retrying'],
            [3100, 'due', 'queued'], [3100, 'lease', 'running'], [3200, 'slow', 'running'], [4100, 'exhaust', 'failed']]
            .map(([ms, event, status]) => ({ at: at(ms), event, status }))
        same(stretches.stretches(steps).map(one => [one.status, one.to - one.from]),
            [['queued', 100], ['running', 1000], ['retrying', 2000], ['queued', 0], ['running', 1000]], 'stretches')
        same(stretches.stretches(steps.slice(0, 2)).at(-1).to, null, 'one goes on')
        const early = [{ status: 'scheduled' }, { status: 'queued' }]
        same([early, early.slice(0, 1)].map(all => stretches.sinceDue(all).map(one => one.status)),
            [['queued'], ['scheduled']], 'the wait for its time is drawn as long as it lasts')
        const wide = stretches.widths(stretches.stretches(steps), started + 5000)
        check(Math.abs(wide.reduce((a, b) => a + b, 0) - 100) < 0.01 && Math.min(...wide) > 3, `widths ${wide}`)
    },
    'an execution is said in a sentence': () => {
        const one = {
            status: 'failed', attempt_count: 3, lost_count: 1, error: 'exit code 1', duration_ms: 1200,
            attempts: [{ error_class: 'network_error' }], started_at: at(0),
        }
        same(said.sentence(one, started, null).text,
            'It failed for good after 3 attempts (1 lost): exit code 1 (network error).', 'failed')
        same(said.sentence({ ...one, status: 'running', attempt_count: 2 }, started + 5000, null).text,
            'It has been running for 5 s, in attempt 2.', 'running')
        same(said.sentence({ ...one, status: 'queued', error: null }, started, 'the queue is paused').text,
            'It waits. The queue is paused.', 'waiting')
    },
    'times may be told as lengths': () => {
        const now = started + 12_345
        same(moment.momentOf('2h', now), '2026-11-16T10:00:00.000Z', 'a length, by the minute')
        same(moment.momentOf('2026-11-16 03:00', now), '2026-11-16T03:00:00.000Z', 'in UTC')
        same(moment.momentOf('2026-11-16T03:00:00+01:00', now), '2026-11-16T02:00:00.000Z', 'in another zone')
        same(moment.momentOf('yesterday', now), 'yesterday', 'for the server to refuse')
    },
    'what an action cannot go by is told': () => {
        const [retry, cancel] = deeds.deeds
        same(deeds.whyNotAll(retry, { status: ['failed'], queue: ['a'] }), null, 'retry')
        check(deeds.whyNotAll(retry, { tag: ['a:b'] }).includes('tag'), 'retry by a tag')
        check(deeds.whyNotAll(cancel, { worker: 'w' }).includes('worker'), 'cancel by a worker')
        same(deeds.whyNotAll(cancel, { worker: 'w', status: ['running'] }), null, 'cancel what it runs')
        check(deeds.whyNotAll(cancel, { status: ['failed'] }) !== null, 'cancel what is over')
    },
})
