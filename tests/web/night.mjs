// Hours that ./test has not: axe over all pages in both themes, and how long the pages of a server with very many
// jobs take. BELFRY_JOBS says how many (100,000); BELFRY_URL names a server that is theirs.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { call, check, close, open, run, same, until, violations } from './rig.mjs'

const JOBS = Number(process.env.BELFRY_JOBS ?? 100_000)
const BATCH = 5000
const LIMITS_MS = { task: 50, useful: 300, list: 500 } // main thread; median of ten; first rows of all jobs
const TRIES = 10
const LINES = 15_000
const traces = fileURLToPath(new URL('../../build/web/', import.meta.url))

const median = times => times.sort((a, b) => a - b)[times.length >> 1]

/** Milliseconds from asking for an address until `selector` is there and drawn, by the page's own clock: a test that
 *  asks from outside is told later. */
async function timeTo(path, selector) {
    const page = await open('about:blank')
    await page.addInitScript(selector => {
        const look = () => {
            if (document.querySelector(selector))
                requestAnimationFrame(() => { globalThis.drawnAt = performance.now() })
            else
                requestAnimationFrame(look)
        }
        look()
    }, selector)
    await page.goto(path, { waitUntil: 'commit' })
    await page.waitForFunction(() => globalThis.drawnAt)
    const ms = await page.evaluate(() => globalThis.drawnAt)
    await close(page)
    return ms
}

/** While `work` goes on, no task of the page's main thread is long, by the time that it had the processor: others
 *  may want that, too. The trace is for the browser's own tools. */
async function isSmooth(name, page, work) {
    const path = `${traces}trace-${name}.json`
    const browser = page.context().browser()
    await browser.startTracing(page, { path, categories: ['toplevel', 'devtools.timeline',
        'disabled-by-default-devtools.timeline'] })
    await work()
    await browser.stopTracing()
    const { traceEvents: events } = JSON.parse(readFileSync(path, 'utf8'))
    const main = new Set(events.filter(one => one.name === 'thread_name' && one.args.name === 'CrRendererMain')
        .map(one => `${one.pid} ${one.tid}`))
    const tasks = events.filter(one => one.name === 'RunTask' && main.has(`${one.pid} ${one.tid}`))
    const longest = Math.max(...tasks.map(one => (one.tdur ?? 0) / 1000))
    console.log(`${name}: longest of ${tasks.length} tasks: ${Math.round(longest)} ms`)
    check(longest > 0, 'the trace has no tasks')
    check(longest < LIMITS_MS.task, `a task of ${Math.round(longest)} ms, more than ${LIMITS_MS.task}; see ${path}`)
}

await run({
    'there are many jobs': async () => {
        for (let i = 0; i < JOBS; i += BATCH)
            await call('POST', '/jobs/batch', { jobs: Array.from({ length: Math.min(BATCH, JOBS - i) }, (_, n) => ({
                name: `night-${i + n}`, command: ['true'], queue: `q-${n % 50}`, schedule: { delay: '300d' },
            })) })
    },
    'every page is accessible in both themes': async () => {
        for (const dark of [false, true]) {
            const page = await open('/', { dark })
            await page.locator('.live-live').waitFor()
            const { jobs: [job] } = await call('GET', '/jobs?limit=1')
            const links = await page.locator('.side a').evaluateAll(all => all.map(link => link.getAttribute('href')))
            for (const path of [...links, '/jobs/new', `/jobs/${job.job_id}`, `/jobs/${job.job_id}/definition`]) {
                await page.goto(path)
                await page.locator('#main h1').waitFor({ state: 'attached' })
                await page.locator('.live-live').waitFor()
                same(await violations(page), [], `${path}${dark ? ', dark' : ''}`)
            }
            await close(page)
        }
    },
    'the first page is useful soon, and so is the list of all jobs': async () => {
        for (const [path, selector, limit] of [['/', '.figure', LIMITS_MS.useful],
            ['/jobs', 'tr[data-at="0"]', LIMITS_MS.list]]) {
            const times = []
            for (let i = 0; i < TRIES; i++)
                times.push(await timeTo(path, selector))
            console.log(`${path}: median ${Math.round(median(times))} ms of ${times.map(Math.round).join(' ')}`)
            check(median(times) < limit, `${path} took ${Math.round(median(times))} ms, more than ${limit}`)
        }
    },
    'scrolling through very many jobs holds nothing up': async () => {
        const page = await open('/jobs')
        await page.locator('tr[data-at="0"]').waitFor()
        const wanted = Math.min(JOBS, 5000) // rows; a page of a hundred is read when one comes near its end
        await isSmooth('scrolling', page, () => until(async () => {
            await page.locator('#main').evaluate(main => main.scrollBy(0, 1200))
            return page.evaluate(wanted => [...document.querySelectorAll('tr[data-at]')].some(row =>
                Number(row.dataset.at) > wanted - 200), wanted)
        }, 'the rows far down', 300_000))
        await close(page)
    },
    'output that is followed at a thousand lines a second holds nothing up': async () => {
        const { job_id: job } = await call('POST', '/jobs', { name: 'talks', command: ['python3', '-c', `import time
begun = time.monotonic()
for i in range(${LINES}):
    time.sleep(max(0, begun + i / 1000 - time.monotonic()))
    print("line", i, "of a log that grows", flush=True)`] })
        const { execution_id: id } = await until(async () =>
            (await call('GET', `/jobs/${job}/executions`)).executions[0], 'its execution')
        const page = await open(`/executions/${id}/output`)
        const last = async () => Number(/line (\d+)/.exec(await page.locator('.log-row').last().textContent())?.[1])
        await until(async () => await last() > 1000, 'the first second of it')
        await isSmooth('log', page, () => until(async () => await last() >= LINES - 1, 'its end', 300_000))
        await close(page)
    },
})
