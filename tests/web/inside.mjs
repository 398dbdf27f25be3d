// What happens inside of the pages: connections, calls, the focus, addresses, what a browser remembers.
import { call, check, close, open, run, same, until } from './rig.mjs'

const AWAY = ['Failed to load resource', 'net::ERR']

/** Whether somebody looks at a page, as it is told; the browser of a test shows all of them. */
const look = (page, state) => page.evaluate(state => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
}, state)

const submit = (name, more = {}) => call('POST', '/jobs',
    { name, command: ['true'], schedule: { delay: '300d' }, ...more })

async function many(prefix, count) {
    const jobs = Array.from({ length: count }, (_, i) => ({
        name: `${prefix}-${i}`, queue: prefix, command: ['true'], schedule: { delay: '300d' },
    }))
    await call('POST', '/jobs/batch', { jobs })
}

/** An execution that prints a line every tenth of a second, until it is cancelled or ends by itself. */
async function talker(name) {
    const { job_id: id } = await call('POST', '/jobs',
        { name, command: ['sh', '-c', 'for i in $(seq 900); do echo line $i; sleep 0.1; done'] })
    const execution = await until(async () => (await call('GET', `/jobs/${id}`)).current_execution?.execution_id,
        'a run')
    return { execution, end: () => call('DELETE', `/jobs/${id}`) }
}

await run({
    'a job that is opened in one tab is nothing to the others': async () => {
        const { job_id: id } = await submit('opened')
        await call('PUT', '/calendars/quiet', { dates: ['2026-12-25'] })
        const page = await open('/calendars/quiet') // which is not polled
        await page.locator('.live-live').waitFor()
        const other = await page.context().newPage()
        await other.goto('/jobs')
        await other.locator('.live-live').waitFor()
        let asked = 0
        page.on('request', request => asked += /\/calendars\/quiet/.test(request.url()))
        const named = page.waitForResponse(answer => /\/events\?.*job=/.test(answer.url())) // this tab reads for both
        await other.goto(`/jobs/${id}`)
        await named
        await call('POST', `/jobs/${id}/pause`)
        await other.getByText('Paused: nothing starts').waitFor()
        same(asked, 0, 'calls of the other tab')
        await close(page)
    },
    'plain HTTP to another machine has one stream for all tabs, too': async () => {
        const base = process.env.BELFRY_URL.replace('127.0.0.1', 'plain.test')
        const page = await open('/', { base })
        same(await page.evaluate(() => 'locks' in navigator), false, 'locks')
        const context = page.context()
        await page.locator('.live-live').waitFor()
        let streams = 0
        context.on('request', request => streams += /\/events/.test(request.url()))
        const others = []
        for (let tab = 0; tab < 7; tab++) { // with a stream each they would be more than the connections of a browser
            const other = await context.newPage()
            await other.goto('/jobs')
            await other.locator('.live-live').waitFor()
            others.push(other)
        }
        same(streams, 0, 'streams of further tabs')
        await page.close()
        await until(() => streams > 0, 'another tab to take over')
        await others[0].locator('.live-live').waitFor()
        same(streams, 1, 'streams behind that')
        await context.close()
    },
    'a log that nobody looks at is not followed, and goes on when somebody does': async () => {
        const { execution, end } = await talker('talker')
        const page = await open(`/executions/${execution}/output`)
        const isFollow = request => /follow=true/.test(request.url())
        await page.getByText(/following/).waitFor()
        const ended = page.waitForEvent('requestfailed', isFollow)
        await look(page, 'hidden')
        await ended
        const begun = page.waitForRequest(isFollow)
        await look(page, 'visible')
        await begun
        const last = () => page.locator('.log-number').last().textContent().then(Number)
        const before = await last()
        await until(async () => await last() > before + 5, 'further lines')
        await close(page)
        await end()
    },
    'what is found in a log that grows is not asked for with each line': async () => {
        const { execution, end } = await talker('found')
        const page = await open(`/executions/${execution}/output?find=line`)
        const said = page.locator('.log-find [role="status"]')
        const found = async () => Number(/of ([\d,]+)/.exec(await said.textContent())?.[1].replace(/,/g, ''))
        await until(found, 'the first ones')
        let asked = 0
        page.on('request', request => asked += /limit=5000/.test(request.url()))
        const before = await found()
        const begun = Date.now()
        await until(async () => await found() > before + 20, 'twenty more')
        check(asked <= (Date.now() - begun) / 1000 + 2, `${asked} calls in ${Date.now() - begun} ms`)
        await close(page)
        await end()
    },
    'letters in a log are its own': async () => {
        const { execution, end } = await talker('letters')
        const page = await open(`/executions/${execution}/output`)
        await page.locator('.log-row').first().waitFor()
        await page.locator('.log-rows').focus()
        await page.keyboard.press('g')
        await page.keyboard.press('w')
        await page.locator('.log-rows.is-wrapped').waitFor()
        check(page.url().endsWith('/output'), page.url())
        await close(page)
        await end()
    },
    'links of a drawing load nothing': async () => {
        const first = await submit('drawn-first')
        const then = await submit('drawn-then', { schedule: undefined,
            depends_on: [{ job: first.job_id, type: 'success' }] })
        const page = await open(`/jobs/${then.job_id}/graph`)
        await page.evaluate(() => { window.isSame = true })
        await page.locator('.graph a:not([aria-current])').click()
        await page.waitForURL(`**/${first.job_id}/graph`)
        await page.locator('.graph a[aria-current]', { hasText: 'drawn-first' }).waitFor()
        same(await page.evaluate(() => window.isSame), true, 'the same document')
        await close(page)
    },
    'a code does not come back into the address': async () => {
        const page = await open('/jobs#code=nonsense', { stranger: AWAY })
        await page.getByRole('button', { name: /^Go on as/ }).click()
        await page.getByLabel('Name', { exact: true }).fill('any')
        await page.waitForURL(/name=any/)
        check(!page.url().includes('code'), page.url())
        await close(page)
    },
    'the focus stays in a long list that is scrolled': async () => {
        await many('focus', 150)
        const page = await open('/jobs?queue=focus')
        const focused = () => page.evaluate(() => Number(document.activeElement.closest('tr')?.dataset.at ?? -1))
        await page.locator('tr[data-at="3"]').focus()
        await until(async () => {
            await page.locator('#main').evaluate(main => main.scrollBy(0, 800))
            return await page.locator('tr[data-at="100"]').count() > 0 && await focused() > 20
        }, 'a row further down to have it')
        const before = await focused()
        await page.keyboard.press('ArrowDown')
        same(await focused(), before + 1, 'the row below')
        same(await page.locator('tr[data-at][tabindex="0"]').count(), 1, 'rows that Tab comes to')
        await close(page)
    },
    'what was picked among the runs of the last hour stays picked': async () => {
        await call('POST', '/jobs', { name: 'picked', command: ['true'] })
        await until(async () => (await call('GET', '/executions?name=picked&status=completed')).executions.length > 0,
            'the run to end')
        const page = await open('about:blank')
        await page.clock.install()
        await page.goto('/executions?name=picked&finished_after=1h')
        await page.locator('tr[data-at="0"] input').check()
        const again = page.waitForRequest(request => /name=picked/.test(request.url()))
        await page.clock.runFor(125_000)
        await again
        check(await page.locator('tr[data-at="0"] input').isChecked(), 'two minutes later nothing is picked')
        await close(page)
    },
    'what somebody else has done since is neither undone nor overwritten': async () => {
        await many('undone', 1)
        const page = await open('/queues/undone')
        await page.getByLabel(/^At once, at most/).fill('3')
        await page.getByRole('button', { name: 'Set the limit' }).click()
        const undo = page.getByRole('button', { name: 'Undo' })
        await undo.waitFor()
        await call('PUT', '/queues/undone', { concurrency: 7 })
        await undo.click()
        await page.getByText(/has changed undone since/).waitFor()
        same((await call('GET', '/queues/undone')).concurrency, 7, 'the limit')

        await call('PUT', '/calendars/shared', { dates: ['2026-12-25'] })
        await page.goto('/calendars/shared')
        await page.getByLabel('Days').fill('2026-12-24')
        await call('PUT', '/calendars/shared', { dates: ['2026-12-31'] })
        await page.getByRole('button', { name: 'Put it in place' }).click()
        await page.getByText(/has changed shared/).waitFor()
        same((await call('GET', '/calendars/shared')).document.dates, ['2026-12-31'], 'the calendar')
        same(await page.getByLabel('Days').inputValue(), '2026-12-24', 'what was typed')
        await close(page)
    },
    'of an execution that was tried a thousand times the newest is drawn': async () => {
        const { job_id: id } = await call('POST', '/jobs', { name: 'tried', command: ['true'] })
        const execution = await until(async () => (await call('GET', `/jobs/${id}`)).last_execution_id, 'a run')
        await until(async () => (await call('GET', `/executions/${execution}`)).status === 'completed', 'its end')
        const page = await open('about:blank')
        await page.route(`**/api/v1/executions/${execution}`, async route => {
            const answer = await route.fetch()
            const body = await answer.json()
            const many = list => [...Array(1000 - list.length).fill(list[0]), ...list].map(
                (one, i) => ({ ...one, token: i }))
            const { transitions, attempts } = body
            await route.fulfill({ json: { ...body, transitions: many(transitions), attempts: many(attempts) } })
        })
        await page.goto(`/executions/${execution}`)
        await page.locator('.trail-step').first().waitFor()
        same(await page.locator('.trail-step').count(), 100, 'steps')
        await page.getByRole('button', { name: '900 earlier steps' }).click()
        await page.locator('.trail-step').nth(999).waitFor()
        await page.getByRole('link', { name: /^Attempts/ }).click()
        await page.getByText('The newest 30 of 1,000').waitFor()
        same(await page.locator('.attempts thead th').count(), 31, 'columns')
        await close(page)
    },
    'a question goes with the page that asked it, and a word stays while it is read': async () => {
        await many('asked', 3)
        const page = await open('/queues/asked')
        await page.locator('a[href="/jobs?queue=asked"]').click()
        await page.locator('tr[data-at="0"] input').check()
        await page.getByRole('button', { name: 'Cancel …' }).click()
        await page.getByRole('button', { name: 'Cancel 1 job' }).waitFor()
        await page.evaluate(() => history.back())
        await page.getByRole('button', { name: 'Cancel 1 job' }).waitFor({ state: 'detached' })

        await page.clock.install()
        await page.goto('/queues/asked')
        await page.getByRole('button', { name: 'Pause' }).click()
        await page.getByRole('button', { name: 'Undo' }).focus()
        await page.clock.runFor(60_000)
        check(await page.getByRole('button', { name: 'Undo' }).count() === 1, 'it went while it had the focus')
        await page.locator('h1').focus()
        await page.clock.runFor(3000)
        same(await page.getByRole('button', { name: 'Undo' }).count(), 0, 'words that stay for ever')
        await close(page)
    },
    'what is said of old data goes by the server\'s clock': async () => {
        const page = await open('about:blank', { stranger: AWAY })
        await page.addInitScript(() => {
            const { now } = Date
            Date.now = () => now() - 5 * 3_600_000
        })
        await page.goto('/queues')
        await page.locator('.live-live').waitFor()
        const hour = new Date().toISOString().slice(11, 13)
        await page.route('**/api/v1/**', route => route.abort())
        const said = page.getByText(/^As of/).first()
        await said.waitFor()
        const told = /As of (\d\d):/.exec(await said.textContent())[1]
        check([hour, new Date().toISOString().slice(11, 13)].includes(told), `${told} h, and it is ${hour}`)
        await close(page)
    },
    'a browser that keeps nothing shows everything': async () => {
        const page = await open('about:blank')
        await page.addInitScript(() => Object.defineProperty(window, 'localStorage', {
            get: () => { throw new DOMException('no', 'SecurityError') },
        }))
        for (const path of ['/', '/jobs', '/executions', '/queues']) {
            await page.goto(path)
            await page.locator('.live-live').waitFor()
            await page.locator('#main h1').waitFor({ state: 'attached' })
        }
        await close(page)
    },
})
