// Calls, and what is kept of their answers, without a browser: who overtakes whom, what is asked for again, and what
// is not.
import { check, run, same, unit, until } from './rig.mjs'

/** Calls that were made, the oldest first; each waits to be answered. */
const calls = []
globalThis.document = { visibilityState: 'visible', addEventListener() {} }
globalThis.addEventListener = () => {}
globalThis.fetch = (address, { signal, headers }) => new Promise((resolve, reject) => {
    const one = { address, headers, aborted: false }
    signal?.addEventListener('abort', () => {
        one.aborted = true
        reject(signal.reason)
    })
    one.answer = (body, status = 200, more = {}) => resolve(new Response(typeof body === 'string' ? body
        : JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...more } }))
    one.cut = () => resolve(new Response(new ReadableStream({ start: feed => feed.error(new TypeError('cut')) }),
        { headers: { 'Content-Type': 'application/json' } }))
    calls.push(one)
})
const call = n => until(() => calls[n - 1], `call ${n}`)
const settled = () => new Promise(resolve => setImmediate(resolve))
let lives = 0

async function begin(path) {
    calls.length = 0
    return unit(path, `life ${lives++}`)
}

async function list() {
    const { List } = await begin('api/pages.ts')
    return new List('/jobs', 'jobs', {}, () => {})
}

await run({
    'a page that is refused is not asked for again and again': async () => {
        const jobs = await list()
        jobs.reload();
        (await call(1)).answer({ jobs: [1, 2], next_cursor: 'c' })
        await until(() => jobs.rows.length === 2, 'the first page')
        jobs.more();
        (await call(2)).answer({ code: 'invalid', detail: 'no such cursor' }, 400)
        await until(() => jobs.problem, 'the refusal')
        jobs.more() // as a table does that sees its end
        await settled()
        same(calls.length, 2, 'calls')
        jobs.poll();
        (await call(3)).answer({ jobs: [1, 2], next_cursor: 'd' })
        await until(() => jobs.problem === null, 'the list to be well again')
        jobs.more()
        check(/cursor=d/.test((await call(4)).address), 'the new cursor')
    },
    'what is asked for while a list is being read is done then': async () => {
        const jobs = await list()
        jobs.reload()
        await call(1)
        jobs.reload() // behind an action, say: the answer that is on its way may not know of it
        calls[0].answer({ jobs: ['old'], next_cursor: 'c' });
        (await call(2)).answer({ jobs: ['new'], next_cursor: 'c' })
        await until(() => jobs.rows[0] === 'new', 'the newer rows')
        jobs.reload()
        await call(3)
        jobs.more()
        calls[2].answer({ jobs: ['new'], next_cursor: 'c' });
        (await call(4)).answer({ jobs: ['more'], next_cursor: null })
        await until(() => jobs.rows.length === 2, 'the further page')
    },
    'a list that was read far keeps its rows when it is polled': async () => {
        const jobs = await list()
        jobs.reload()
        for (let page = 1; page <= 6; page++) {
            (await call(page)).answer({ jobs: [page], next_cursor: 'c' })
            await until(() => jobs.busy === null, 'the page')
            if (page < 6)
                jobs.more()
        }
        jobs.poll()
        await settled()
        same([calls.length, jobs.rows.length], [6, 6], 'calls and rows')
    },
    'an answer does not overtake what was put in place meanwhile': async () => {
        const { Resource } = await begin('api/resource.ts')
        const one = new Resource('/operations/op_1', {})
        one.use()
        void one.load()
        await call(1)
        one.put('newer')
        calls[0].answer('"older"')
        await call(2)
        same(one.held.value.data, 'newer', 'shown')
        calls[1].answer('"newest"')
        await until(() => one.held.value.data === 'newest', 'what was read behind it')
    },
    'several that show the same ask once': async () => {
        const { Resource } = await begin('api/resource.ts')
        const one = new Resource('/series', {})
        for (let user = 0; user < 3; user++) {
            one.use()
            one.refresh(1000)
        }
        (await call(1)).answer('1')
        await until(() => one.held.value.data === 1, 'the answer')
        one.refresh(1000)
        await settled()
        same(calls.length, 1, 'calls')
    },
    'what was asked for before signing out is nobody\'s': async () => {
        const { Resource, forgetResources } = await begin('api/resource.ts')
        const one = new Resource('/jobs', {})
        void one.load()
        await call(1)
        forgetResources()
        calls[0].answer('"secret"')
        await settled()
        await settled()
        same(one.held.value.data, null, 'kept')
    },
    'a call that gets no answer is given up': async () => {
        const set = globalThis.setTimeout
        globalThis.setTimeout = (work, ms, ...all) => set(work, ms === 30_000 ? 20 : ms, ...all)
        try {
            const { api } = await begin('api/client.ts')
            const why = await api.get('/jobs').then(() => null, why => why)
            same([why?.status, why?.isPassing, calls[0].aborted, calls.length], [0, true, true, 1], 'given up')
        } finally {
            globalThis.setTimeout = set
        }
    },
    'an answer that breaks off is the server\'s being away': async () => {
        const { api } = await begin('api/client.ts')
        const asked = api.get('/jobs', { retries: 0 }).then(() => null, why => why);
        (await call(1)).cut()
        same((await asked)?.status, 0, 'its status')
    },
    'a server that wants to be left alone for long is told of': async () => {
        const { api } = await begin('api/client.ts')
        const asked = api.get('/jobs').then(() => null, why => why);
        (await call(1)).answer({ code: 'busy', detail: 'later' }, 429, { 'Retry-After': '3600' })
        same((await asked)?.retryAfterMs, 3_600_000, 'at once')
    },
})
