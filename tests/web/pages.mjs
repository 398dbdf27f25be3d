// The pages in a browser: what they show, what they do, by keyboard and on a phone, and how they bear a server
// that is away.
import { call, check, close, open, PHONE, proxy, run, same, titled, until, violations } from './rig.mjs'

const AWAY = ['Failed to load resource', 'net::ERR']

async function submit(count, more = {}) {
    const jobs = Array.from({ length: count }, (_, i) => ({
        name: `${more.prefix ?? 'many'}-${String(i).padStart(4, '0')}`, command: ['true'],
        schedule: { cron: '0 3 1 1 *' }, queue: more.queue ?? 'many',
    }))
    const { results } = await call('POST', '/jobs/batch', { jobs })
    check(results.every(result => result.job_id), 'a job was refused')
}

await run({
    'an empty server teaches': async () => {
        const page = await open('/')
        await page.getByText('Nothing has been submitted yet.').waitFor()
        await page.getByRole('link', { name: 'Jobs', exact: true }).first().click()
        await page.getByText('There are no jobs yet.').waitFor()
        same(new URL(page.url()).pathname, '/jobs', 'the address')
        await titled(page, 'Jobs · belfry')
        await page.goBack()
        await page.getByText('Nothing has been submitted yet.').waitFor()
        await close(page)
    },
    'a long list is drawn as far as it is seen, and read as one scrolls': async () => {
        await submit(250)
        const page = await open('/jobs?queue=many')
        await page.locator('tr[data-at="0"]').waitFor()
        check(await page.locator('tr[data-at]').count() < 80, 'all rows are drawn')
        await until(async () => {
            await page.locator('#main').evaluate(main => main.scrollTo(0, main.scrollHeight))
            return page.locator('tr[data-at="249"]').count()
        }, 'the last row')
        await close(page)
    },
    'filters live in the address': async () => {
        const page = await open('/jobs')
        await page.getByLabel('Name', { exact: true }).fill('many-000')
        await until(async () => /name=many-000/.test(page.url()), 'the address')
        await until(async () => await page.locator('tr[data-at]').count() === 10, 'ten jobs')
        await page.getByRole('button', { name: '+ Filter' }).click()
        await page.getByRole('menuitemradio', { name: 'failed' }).click()
        await page.getByText('No job fits these filters.').waitFor()
        check(page.url().includes('status=failed'), page.url())
        await page.goBack()
        await page.locator('tr[data-at="9"]').waitFor()
        for (const order of ['name', 'next_run_at']) {
            await page.goto(`/jobs?queue=many&sort=${order}`)
            await page.locator('tr[data-at="9"]').waitFor()
            same(await page.getByRole('alert').count(), 0, `what is wrong with the order ${order}`)
        }
        await close(page)
    },
    'what is picked is acted upon, counted first': async () => {
        const page = await open('/jobs?name=many-00')
        await page.getByLabel('Pick all that are shown').check()
        await page.getByRole('button', { name: 'Pick all that match' }).waitFor({ state: 'hidden' })
        await page.getByRole('button', { name: 'Pause …' }).click()
        const first = page.locator('dialog[open] li')
        await first.filter({ hasText: 'and 90 more' }).waitFor()
        same(await first.filter({ hasText: /^many-00\d\d$/ }).count(), 10, 'the first of them, by name')
        await page.getByRole('button', { name: 'Pause 100 jobs' }).click()
        await page.getByText('100 of 100 paused').waitFor()
        await until(async () => (await call('GET', '/jobs?status=paused&count=true')).total === 100,
            'totals, which may be a second old')
        await close(page)
    },
    'all that match is more than what was read': async () => {
        const page = await open('/jobs?queue=many&owner=admin&status=active&status=paused')
        await page.locator('tr[data-at="0"]').waitFor()
        await page.locator('tr[data-at="0"] input').check()
        await page.getByRole('button', { name: 'Pick all that match' }).click()
        await page.getByRole('button', { name: 'Resume …' }).click()
        await page.getByRole('button', { name: /^Resume \d+ jobs$/ }).click()
        await until(async () => (await call('GET', '/jobs?status=paused&count=true')).total === 0, 'all to be resumed')
        await close(page)
    },
    'everything can be done by keyboard': async () => {
        const page = await open('/')
        await page.locator('.live-live').waitFor()
        await page.keyboard.press('Control+k')
        await page.locator('dialog[open] input:focus').waitFor()
        await page.keyboard.type('many-0007')
        await page.getByRole('option', { name: /many-0007/ }).waitFor()
        await page.keyboard.press('Escape')
        check(!await page.locator('dialog[open]').count(), 'Escape leaves the search')
        await page.goto('/jobs')
        await page.locator('tr[data-at="0"]').focus()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Space')
        await page.getByText('1 job', { exact: true }).waitFor()
        await page.keyboard.press('Enter')
        await until(async () => /\/jobs\/job_/.test(page.url()), 'the job to be opened')
        await close(page)
    },
    'pages are accessible, light, dark and on a phone': async () => {
        for (const path of ['/', '/jobs', '/jobs?name=nobody', '/nowhere']) {
            for (const look of [{}, { dark: true }, { viewport: PHONE }]) {
                const page = await open(path, { ...look, stranger: path === '/nowhere' ? AWAY : [] }) // that is 404
                await page.locator('.live-live').waitFor()
                await page.locator('#main h1').waitFor({ state: 'attached' })
                same(await violations(page), [], `${path} ${JSON.stringify(look)}`)
                const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
                check(!wide, `${path} is wider than a ${JSON.stringify(look)} screen`)
                await close(page)
            }
        }
    },
    'one stream serves all tabs, and the next in line takes over': async () => {
        const page = await open('/')
        const context = page.context()
        let streams = 0
        await page.locator('.live-live').waitFor()
        context.on('request', request => streams += /\/events/.test(request.url()))
        const other = await context.newPage()
        await other.goto('/jobs')
        await other.locator('.live-live').waitFor()
        same(streams, 0, 'streams of the second tab')
        await page.close()
        await until(() => streams === 1, 'the second tab to take over')
        await other.locator('.live-live').waitFor()
        await context.close()
    },
    'a server that is away is said, and what is known stays': async () => {
        const line = await proxy()
        const page = await open('/jobs', { stranger: AWAY, base: line.url })
        await page.locator('tr[data-at="0"]').waitFor()
        line.cut()
        await page.locator('.live-away, .live-old').waitFor()
        await page.locator('.old-data').waitFor()
        check(await page.locator('tr[data-at="0"]').count() === 1, 'the list is gone')
        await line.mend()
        await page.locator('.live-live').waitFor()
        await page.locator('.old-data').waitFor({ state: 'detached' })
        await close(page)
        line.cut()
    },
    'without a session there is the page to sign in': async () => {
        const page = await open('/jobs', { keyed: false, stranger: AWAY })
        await page.getByLabel('Key').fill('nonsense')
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('alert').waitFor()
        same(new URL(page.url()).pathname, '/jobs', 'the address that was asked for')
        same(await violations(page), [], 'signing in')
        await close(page)
    },
    'an address that nobody has is told': async () => {
        const page = await open('/no/such/page', { stranger: AWAY })
        await page.getByText('There is no page at this address').waitFor()
        await close(page)
    },
})
