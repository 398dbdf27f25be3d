// Hours that ./test has not: axe over all pages in both themes, and how long the pages of a server with very many
// jobs take. BELFRY_JOBS says how many (100,000); BELFRY_URL names a server that is theirs.
import { call, check, close, open, run, same, until, violations } from './rig.mjs'

const JOBS = Number(process.env.BELFRY_JOBS ?? 100_000)
const BATCH = 5000
const LIMITS_MS = { task: 50, useful: 300, list: 500 } // main thread; median of ten; first rows of all jobs
const TRIES = 10

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
        await page.evaluate(() => {
            window.longest = 0
            new PerformanceObserver(list => list.getEntries().forEach(task => {
                window.longest = Math.max(window.longest, task.duration)
            })).observe({ type: 'longtask' })
        })
        const wanted = Math.min(JOBS, 5000) // rows; a page of a hundred is read when one comes near its end
        await until(async () => {
            await page.locator('#main').evaluate(main => main.scrollBy(0, 1200))
            return page.evaluate(wanted => [...document.querySelectorAll('tr[data-at]')].some(row =>
                Number(row.dataset.at) > wanted - 200), wanted)
        }, 'the rows far down', 300_000)
        const longest = await page.evaluate(() => window.longest)
        console.log(`longest task: ${Math.round(longest)} ms`)
        check(longest < LIMITS_MS.task, `a task of ${Math.round(longest)} ms, more than ${LIMITS_MS.task}`)
        await close(page)
    },
})
