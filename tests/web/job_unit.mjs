// What the pages of a job do without a browser: YAML, command lines, cron, forms, patches, the places of a graph.
import { check, run, same, unit } from './rig.mjs'

const [{ yaml }, cron, draft, document, command, graph, length, versions] = await Promise.all(['base/yaml.ts',
    'pages/definition/cron.ts', 'pages/definition/draft.ts', 'pages/definition/document.ts',
    'pages/definition/command.ts', 'pages/job/layout.ts', 'base/duration.ts', 'pages/job/differences.ts'].map(unit))

const whole = {
    name: 'nightly', command: ['python3', 'it\'s.py', ''], payload: { month: 11, list: [1, [2], {}] },
    env: { MODE: 'full', EMPTY: '' }, schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' }, queue: 'default',
    priority: 500, timeout: '1h', retry: { max_retries: 3, policy: 'exponential', delay: '1s', max_delay: '1h',
        jitter: 0.3 }, sla: { expected: '30m', max: '1h', policy: 'strict' }, overlap: 'queue',
    misfire: { policy: 'latest', grace: '1d', limit: 100 }, dst: { gap: 'after', fold: 'first' },
    calendars: ['holidays'], tags: { env: 'prod' },
}

await run({
    'YAML quotes what a reader could take for something else': () => {
        const plain = ['report.py', '/srv/x', 'two words', 'a-b', 'é', '日本', 'a.b/c', 'schön ist es', 'v1.2']
        for (const text of plain)
            same(yaml(text), `${text}\n`, 'plain')
        const quoted = ['', ' x', 'x ', 'null', '~', 'Yes', 'no', 'on', 'OFF', 'y', 'true', '1', '-1', '1e3',
            '0x1F', '0o7', '1_000', '.5', '12:30', '2026-11-16', '2026-11-16T08:00:00Z', '.inf', '.NaN', '---', '...',
            '<<', '=', '- x', '-', '--all', '? x', ': x', 'a: b', 'a:', 'a #b', '#a', '&a', '*a', '!a', '|', '>',
            '%a', '@a', '`a',
            '{a', '}', '[a', ']', 'a, b', '\'a', '"a', 'a\tb', 'a\rb', '\\',
            'a\u0085b', 'a\u2028b', '\ufeffa', 'a\u0007']
        for (const text of quoted) {
            check(yaml(text).startsWith('"') && yaml(text).endsWith('"\n'), `${yaml(text)} is not quoted`)
            same(JSON.parse(yaml(text)), text, 'what it says')
        }
        same(yaml('a\u0085'), '"a\\u0085"\n', 'an escape that every reader has')
    },
    'YAML has lists, objects and text of several lines': () => {
        same(yaml({ a: {}, b: [], c: [[1, [2]], { d: null, e: true }], f: 1.5, '1': 'x', 'k: ': 'z' }),
            '"1": x\na: {}\nb: []\nc:\n  - - 1\n    - - 2\n  - d: null\n    e: true\nf: 1.5\n"k: ": z\n', 'a tree')
        same(yaml({ run: 'set -e\n\n  make\n', end: 'a\nb', odd: ['x \ny', ' x\ny', 'x\n\n'] }),
            'run: |\n  set -e\n\n    make\nend: |-\n  a\n  b\n' +
            'odd:\n  - "x \\ny"\n  - " x\\ny"\n  - "x\\n\\n"\n', 'lines')
        same(yaml({ ['k'.repeat(1001)]: 1 }), `? ${'k'.repeat(1001)}\n: 1\n`, 'a key too long for its line')
    },
    'a document is a command line where flags can say it': () => {
        same(command.cli({ command: 'echo hi > x' }), "belfry submit --retries 3 -- /bin/sh -c 'echo hi > x'", 'text')
        same(command.cli({ name: "it's", command: ['true', ''], retry: { max_retries: 0 }, queue: 'default',
            tags: { a: 'b c' }, schedule: { every: '15m' }, sla: { max: '1h', policy: 'flexible' }, breaker: false }),
        "belfry submit --name 'it'\\''s' --tag 'a=b c' --every 15m --sla-max 1h --breaker none -- true ''", 'flags')
        check(command.cli({ command: ['x'], description: 'y' }).startsWith("belfry submit -f - <<'EOF'\n{"), 'a file')
        check(command.cli({ command: ['x'], retry: { max_retries: 3, delay: '5s' } }).includes('-f -'), 'retries')
        check(command.curl({ command: "it's" }, 'http://h:1').includes('"command": "it\'s"\n}\nEOF'), 'curl')
    },
    'JSON has a list of plain values in one line, if it fits': () => {
        const long = 'y'.repeat(90)
        same(command.json({ a: ['x', 1, null], b: [{ c: [] }, {}], d: [long] }),
            ['{', '  "a": ["x", 1, null],', '  "b": [', '    {', '      "c": []', '    },', '    {}', '  ],',
                '  "d": [', `    "${long}"`, '  ]', '}'].join('\n'),
            'a tree')
        for (const value of [whole, [], {}, null, 'a', { a: { b: [[1, 2], [3]] } }])
            same(JSON.parse(command.json(value)), value, 'what it says')
    },
    'cron is clicked and read back': () => {
        for (const text of ['*/15 * * * *', '* * * * *', '7 * * * *',
            '0 3 * * *', '30 9 * * 1,3,5', '5 4 31 * *', '0 0 L * *'])
            same(cron.printCron(cron.readCron(text)), text, 'cron')
        for (const text of ['*/7 * * * *', '0 3 * * MON', '0 3 1 * 1', '0 3 * 2 *', '0 24 * * *', '60 * * * *',
            '@daily', '0 0 3 * * *', '1,2 * * * *', '0 3 0 * *', '0 3 32 * *'])
            same(cron.readCron(text), null, text)
    },
    'a form loses nothing of a document': () => {
        for (const one of [whole, {}, { handler: 'mail', payload: null }, { command: 'a\nb', schedule: { at: 'x' } },
            { command: ['a\nb', '[x'], env: { 'A': 'two\nlines' }, rate: { key: 'k', limit: 1, per: '1m' } },
            { command: ['x'], payload: { n: 2 ** 60 } },
            { command: 'x', schedule: { cron: '@daily', seconds: true } }]) {
            const { document: made, errors } = draft.toDocument(draft.draftOf(one))
            same(errors, [], 'errors')
            check(document.same(made, one), `${JSON.stringify(made)} where it was ${JSON.stringify(one)}`)
        }
        const now = draft.draftOf(whole)
        const once = draft.toDocument({ ...now, when: 'now' }).document
        check(!('schedule' in once || 'overlap' in once || 'misfire' in once || 'dst' in once), 'a schedule is left')
        const often = { ...now, when: 'every', fields: { ...now.fields, 'schedule.every': '5m' } }
        const every = draft.toDocument(often).document
        same([every.schedule, 'dst' in every, every.overlap], [{ every: '5m' }, false, 'queue'], 'every')
        const wrong = { ...now, fields: { ...now.fields, payload: '{', tags: 'env', priority: 'high' } }
        same(draft.toDocument(wrong).errors.map(one => one.field), ['payload', 'tags'], 'refused')
        same(draft.toDocument(wrong).document.priority, 'high', 'the server says what is wrong with it')
    },
    'an edit is the smallest patch': () => {
        const to = { ...whole, priority: 1, tags: { env: 'prod', x: 'y' }, payload: { month: 11, list: [] } }
        delete to.timeout
        const patch = document.patchOf(whole, to)
        same(patch, { payload: { list: [] }, priority: 1, timeout: null, tags: { x: 'y' } }, 'patch')
        check(document.same(document.apply(whole, patch), to), 'and makes it so')
        same(document.patchOf(whole, whole), {}, 'nothing')
        check(document.setsNull({ a: 1 }, { a: null }) && document.setsNull({}, { a: { b: null } }) &&
            !document.setsNull({ a: null }, { a: null, b: 1 }), 'null members')
        same(versions.differences({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 1, c: 3 }, e: 'x' }),
            [{ path: 'a.c', before: '2', after: '3' }, { path: 'd', before: '[1]' },
                { path: 'e', after: '"x"' }], 'told')
        same(Object.keys(document.brief(whole)).includes('queue'), false, 'brief leaves out what is usual')
    },
    'a graph stands in columns by who waits for whom': () => {
        const edges = [['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd'], ['a', 'd'], ['d', 'gone']]
            .map(([from, to]) => ({ from, to }))
        const at = new Map(graph.layOut(['d', 'c', 'b', 'a', 'alone'], edges).places
            .map(one => [one.id, one.column]))
        same([...'abcd'].map(id => at.get(id)), [0, 1, 1, 2], 'columns')
        same(at.get('alone'), 0, 'alone')
        const { places, passes } = graph.layOut([...'abcd'], edges)
        const [pass] = passes.get('a d')
        same([passes.size, pass.column], [1, 1], 'one edge passes one column')
        check(!places.some(one => one.column === 1 && one.row === pass.row), 'a line passes no job')
        const cycle = [{ from: 'a', to: 'b' }, { from: 'b', to: 'a' }]
        same(graph.layOut(['a', 'b'], cycle).places.length, 2, 'a cycle ends')
        same(new Set(graph.layOut([...'abcdef'], []).places
            .map(one => `${one.column} ${one.row}`)).size, 6, 'no two at one place')
    },
    'durations of requests are read': () => {
        same(['90s', '1h30m', '500ms', '2d', '1.5h', '', '5', 'x', null].map(length.parseDuration),
            [90_000, 5_400_000, 500, 172_800_000, 5_400_000, null, null, null, null], 'durations')
    },
})
