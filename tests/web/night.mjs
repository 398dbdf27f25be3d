// Hours that ./test has not: axe over all pages in both themes, and how long the pages of a server with very many
// jobs take, and a log that grows fast. BELFRY_JOBS says how many (100,000); BELFRY_URL names a server that is theirs.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { call, check, close, open, PHONE, run, same, until, url, violations } from './rig.mjs'

const JOBS = Number(process.env.BELFRY_JOBS ?? 100_000)
const BATCH = 5000
const LIMITS_MS = { task: 50, useful: 300, list: 500 } // main thread; median of ten; first rows of all jobs
const TRIES = 10
const LINES_A_SECOND = 1000
const LOG_MS = 15_000
const PHONE_IS_SLOWER = 4

const median = times => times.sort((a, b) => a - b)[times.length >> 1]

/** Milliseconds from asking for an address until `selector` is drawn, by the page's own clock. */
async function timeTo(path, selector) {
    const page = await open('about:blank')
    await page.goto(path, { waitUntil: 'commit' })
    await page.locator(selector).first().waitFor()
    const ms = await page.evaluate(() => performance.now())
    await close(page)
    return ms
}

const looks = [[1, {}], [PHONE_IS_SLOWER, { viewport: PHONE }]]

/** Of a page's main thread, in milliseconds of the processor, so that others who use the machine do not count. */
async function longestTask(page, slower, work) {
    const session = await page.context().browser().newBrowserCDPSession()
    const device = await page.context().newCDPSession(page)
    const events = []
    session.on('Tracing.dataCollected', ({ value }) => events.push(...value))
    await device.send('Emulation.setCPUThrottlingRate', { rate: slower })
    await session.send('Tracing.start', { transferMode: 'ReportEvents',
        traceConfig: { includedCategories: ['toplevel', '__metadata'], excludedCategories: ['*'] } })
    await work()
    const complete = new Promise(resolve => session.once('Tracing.tracingComplete', resolve))
    await session.send('Tracing.end')
    await complete
    const mains = events.filter(one => one.name === 'thread_name' && one.args.name === 'CrRendererMain')
    const tasksOf = main => events.filter(one => one.pid === main.pid && one.tid === main.tid && one.ph === 'X' &&
        /RunTask$/.test(one.name))
    const [tasks] = mains.map(tasksOf).sort((a, b) => b.length - a.length) // the page's does most
    return Math.max(...tasks.map(task => task.tdur ?? 0)) / 1000
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
        for (const [slower, look] of looks) {
            const page = await open('/jobs', look)
            await page.locator('tr[data-at="0"]').waitFor()
            const wanted = Math.min(JOBS, 5000) // rows; a page of a hundred is read when one comes near its end
            const scroll = () => until(async () => {
                await page.locator('#main').evaluate(main => main.scrollBy(0, 1200))
                return page.evaluate(wanted => [...document.querySelectorAll('tr[data-at]')].some(row =>
                    Number(row.dataset.at) > wanted - 200), wanted)
            }, 'the rows far down', 300_000)
            const longest = await longestTask(page, slower, scroll)
            console.log(`slower by ${slower}: the longest task took ${longest.toFixed(1)} ms`)
            check(slower > 1 || longest < LIMITS_MS.task, `a task of ${longest.toFixed(1)} ms`)
            await close(page)
        }
    },
    'a log that grows by a thousand lines a second holds nothing up': async () => {
        const worker = spawn(process.env.BELFRY ?? fileURLToPath(new URL('../../build/belfry', import.meta.url)),
            ['worker', '--server', url], { env: { ...process.env, BELFRY_TOKEN: process.env.BELFRY_WORKER_TOKEN },
                stdio: 'ignore' })
        const { job_id: id } = await call('POST', '/jobs', { name: 'talks', command: ['sh', '-c', `i=0
            while :; do j=0
                while [ $j -lt ${LINES_A_SECOND / 10} ]; do
                    j=$((j + 1)); i=$((i + 1)); echo "\x1b[3$((i % 7 + 1))mline\x1b[0m $i of something said at length"
                done; sleep 0.1
            done`] })
        try {
            const execution = await until(
                async () => (await call('GET', `/jobs/${id}`)).current_execution?.execution_id, 'a run')
            for (const [slower, look] of looks) {
                const page = await open(`/executions/${execution}/output`, look)
                const foot = page.locator('.log-foot')
                const lines = async () => Number((await foot.textContent()).replace(/\D/g, ''))
                await until(async () => await lines() > 0, 'the first lines')
                const before = await lines()
                const longest = await longestTask(page, slower, () =>
                    until(async () => await lines() > before + LINES_A_SECOND * LOG_MS / 1000, 'many lines', 300_000))
                console.log(`slower by ${slower}: the longest task took ${longest.toFixed(1)} ms`)
                check(slower > 1 || longest < LIMITS_MS.task, `a task of ${longest.toFixed(1)} ms`)
                await close(page)
            }
        } finally {
            await call('DELETE', `/jobs/${id}`)
            worker.kill()
        }
    },
})
