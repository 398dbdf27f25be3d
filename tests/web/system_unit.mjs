// What the pages of cluster, settings, operations and cron say, and what one stream may name.
import { check, run, same, unit } from './rig.mjs'

const [format, frequent, cluster, words, share] = await Promise.all(['base/format.ts', 'pages/cron/frequent.ts',
    'pages/cluster/sentence.ts', 'pages/operations/words.ts', 'live/share.ts'].map(unit))

const node = (name, more = {}) => ({ name, status: 'active', partitions: 8, ...more })
const whole = { clustered: true, nodes: [node('a'), node('b')], outages: [], missing: [],
    partitions: [{ partition: 0, owner: 'a' }, { partition: 1, owner: 'b' }] }

await run({
    'numbers that follow each other are drawn together': () => {
        same([[], [3], [0, 1], [2, 1, 0], [0, 1, 2, 4, 5, 9]].map(format.ranges), ['', '3', '0, 1', '0–2',
            '0–2, 4, 5, 9'], 'ranges')
        same([864, 2688, 99_940, 1_200_000].map(format.micros), ['864 µs', '2.7 ms', '99.9 ms', '1.2 s'], 'micros')
    },
    'a schedule that comes too often is told': () => {
        const runs = step => Array.from({ length: 5 }, (_, i) => new Date(i * step * 1000).toISOString())
        same(frequent.frequentText(runs(60)), null, 'each minute')
        check(/only 1 s apart, about 86,400 a day/.test(frequent.frequentText(runs(1))), frequent.frequentText(runs(1)))
        same(frequent.frequentText([]), null, 'never')
    },
    'the cluster is said in a sentence': () => {
        same(cluster.sentence(whole, [{ status: 'ok' }]),
            { text: '2 servers share 2 partitions; the check is well.', isWrong: false }, 'well')
        same(cluster.sentence({ ...whole, nodes: [node('a'), node('b', { status: 'silent' })],
            partitions: [{ partition: 0, owner: 'a' }, { partition: 1, owner: null }] }, [{ status: 'warning' }]),
        { text: 'Server b is silent; 1 partition has no server: its jobs wait; 1 server decides about 2 partitions; ' +
            '1 warning.',
            isWrong: true }, 'a silent one')
    },
    'operations are said in words': () => {
        const one = { kind: 'pause', of: 'jobs', status: 'done', filter: { queue: ['a', 'b'] }, total: 4, done: 3,
            refused: 1 }
        same([words.title(one), words.targets(one), words.sentence(one)],
            ['Pause jobs', 'queue a or b', '3 of 4 paused, 1 refused, it is done.'], 'words')
        same(words.targets({ ...one, ids: 2 }), '2 ids that were named', 'ids')
        same(words.targets({ ...one, of: 'dead_letters', filter: {} }), 'all dead letters', 'all')
    },
    'one stream names so many things, and it is known when that is not all': () => {
        const jobs = count => ({ job: Array.from({ length: count }, (_, i) => `j${i}`) })
        same(share.merge([jobs(60), jobs(100)]).isWhole, true, 'a hundred')
        const { query, isWhole } = share.merge([jobs(100), { queue: ['q'] }])
        same([query.job.length, query.queue.length, isWhole], [100, 0, false], 'one too many')
    },
})
