// Queues, dead letters, workers, calendars, breakers and alerts: each thing that one does there, once, against the
// server itself.
import { call, check, close, open, PHONE, run, same, squeezed, until, url, violations } from './rig.mjs'

const HOSTILE = '<img src=x onerror=document.title="taken">'
const REFUSED = ['Failed to load resource'] // an answer that the test wants

const deadLetters = async filter => (await call('GET', `/dead-letters?count=true&${filter}`)).total
const button = (page, name) => page.getByRole('button', { name, exact: true })

/** So many that fail alike for good, and are dead letters by then. */
async function failing(prefix, many, more = {}) {
    const jobs = Array.from({ length: many }, (_, i) => ({
        name: `${prefix}-${i}`, command: ['sh', '-c', `echo the ${prefix} is on fire >&2; exit 1`],
        retry: { max_retries: 0 }, queue: prefix, ...more,
    }))
    const { results } = await call('POST', '/jobs/batch', { jobs })
    check(results.every(result => result.job_id), 'a job was refused')
    await until(async () => await deadLetters(`queue=${prefix}`) === many, `${many} dead letters of ${prefix}`)
}

/** A worker that never polls. */
async function register() {
    const answer = await fetch(`${url}/api/v1/workers`, {
        method: 'POST', body: JSON.stringify({ name: 'mute/1', slots: 2, queues: ['post'], handlers: ['mail'] }),
        headers: { Authorization: `Bearer ${process.env.BELFRY_WORKER_TOKEN}`, 'Content-Type': 'application/json' },
    })
    const said = await answer.json()
    check(said.worker_id, JSON.stringify(said))
    return said.worker_id
}

const event = (uid, rule) =>
    `BEGIN:VEVENT\r\nUID:${uid}\r\nSUMMARY:${uid.repeat(60)}\r\nDTSTART;VALUE=DATE:20261225\r\n${rule}END:VEVENT\r\n`
const calendarFile = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${event('a', '')}${event('b', 'RRULE:FREQ=SECONDLY\r\n')}` +
    'END:VCALENDAR\r\n'

const queue = name => call('GET', `/queues/${name}`)

await run({
    'empty pages teach': async () => {
        const page = await open('/breakers')
        await page.getByText('Nothing was called lately.').waitFor()
        for (const [link, text] of [['Calendars', 'There are no calendars yet.'],
            ['Dead letters', 'There are no dead letters.']]) {
            await page.getByRole('link', { name: link, exact: true }).click()
            await page.getByText(text).waitFor()
        }
        await close(page)
    },
    'a queue is paused, resumed and limited, each with a way back': async () => {
        await call('PUT', '/queues/press', { concurrency: 4 })
        const page = await open('/queues/press')
        await button(page, 'Pause').click()
        await until(async () => (await queue('press')).paused, 'the pause')
        await button(page, 'Undo').click()
        await until(async () => !(await queue('press')).paused, 'the pause to be taken back')
        await page.getByLabel(/^At once/).fill('0')
        await page.getByText('A whole number from 1').waitFor()
        await page.getByLabel(/^At once/).fill('7')
        await button(page, 'Set the limit').click()
        await until(async () => (await queue('press')).concurrency === 7, 'the limit')
        await button(page, 'Undo').last().click()
        await until(async () => (await queue('press')).concurrency === 4, 'the limit of before')
        await close(page)
    },
    'what waits in a queue is told with its reason': async () => {
        await call('POST', '/queues/held/pause')
        await call('POST', '/jobs', { name: 'held-1', command: ['true'], queue: 'held' })
        const page = await open('/queues/held')
        await page.getByText('for a paused queue').waitFor()
        await page.getByText('1 execution is ready and waits').waitFor()
        await button(page, 'Resume').click()
        await until(async () => (await queue('held')).depth === 0, 'the queue to go on')
        await close(page)
    },
    'queues are found by a part of their name, and paused as many': async () => {
        for (let i = 0; i < 30; i++)
            await call('PUT', `/queues/row-${String(i).padStart(2, '0')}`, { concurrency: 1 })
        const page = await open('/queues?name=row-1&order=name')
        await until(async () => await page.locator('tr[data-at]').count() === 10, 'ten queues')
        await page.getByLabel('Pick all that are shown').check()
        await button(page, 'Pause …').click()
        await button(page, 'Pause 10 queues').click()
        await page.getByText('10 of 10 paused').waitFor()
        await page.goto('/queues?is=paused')
        await until(async () => await page.locator('tr[data-at]').count() === 10, 'the paused ones')
        await close(page)
    },
    'on a phone, too, all that are shown are picked at once': async () => {
        await call('PUT', `/queues/row-1${'w'.repeat(180)}`, { concurrency: 1 })
        const page = await open('/queues?name=row-1', { viewport: PHONE })
        await page.getByLabel('Pick all that are shown').check()
        await page.getByText('11 queues', { exact: true }).waitFor()
        await page.locator('tr[data-at="10"]').waitFor()
        const [above, below, wide] = await page.locator('#main').evaluate(main => [
            main.querySelector('.table-pick').getBoundingClientRect().bottom,
            main.querySelector('tr[data-at="0"]').getBoundingClientRect().top, main.scrollWidth - main.clientWidth])
        check(below - above < 4, `${below - above} px between the heading and the first row`)
        check(wide <= 1, `${wide} px wider than the phone`)
        await close(page)
    },
    'dead letters are counted by what they have in common, and run again by that': async () => {
        await failing('boiler', 3)
        await failing('oven', 2)
        const page = await open('/dead-letters', { stranger: REFUSED }) // the example is gone then
        await page.getByText('5 executions failed for good in 2 ways').waitFor()
        await until(async () => /^\(5\+\d+\) Dead letters · belfry$/.test(await page.title()), 'the title')
        await until(async () => /failing/.test(await page.locator('link[rel="icon"]').getAttribute('href')), 'the icon')
        await page.getByRole('link', { name: 'the boiler is on fire' }).click()
        await page.getByLabel('last lines').getByText('the boiler is on fire').waitFor() // of the example
        check(page.url().includes('fingerprint='), page.url())
        await page.getByText('3 executions failed for good, all by: the boiler is on fire.').waitFor()
        await page.getByRole('heading', { name: 'Dead letters 3' }).waitFor()
        await page.getByRole('button', { name: /^Retry 3: / }).click()
        await button(page, 'Retry 3 dead letters').click()
        await page.getByText('3 of 3 run again').waitFor()
        await until(async () => (await call('GET', '/executions?queue=boiler&count=true')).total === 6, 'the new runs')
        await close(page)
    },
    'picked dead letters are discarded, with their number': async () => {
        const page = await open('/dead-letters?queue=oven')
        await page.getByLabel('Pick all that are shown').check()
        await button(page, 'Discard …').click()
        await button(page, 'Discard 2 dead letters').click()
        await page.getByText('2 of 2 discarded').waitFor()
        await until(async () => await deadLetters('queue=oven') === 0, 'none to be left')
        await close(page)
    },
    'one dead letter runs again with another payload': async () => {
        await failing('payload', 1, { name: HOSTILE, payload: { month: 13 } })
        const { dead_letters: [letter] } = await call('GET', '/dead-letters?queue=payload')
        const page = await open(`/dead-letters/${letter.execution_id}`, { stranger: REFUSED })
        await page.getByRole('heading', { name: HOSTILE }).waitFor()
        await button(page, 'Retry with another payload …').click()
        await until(async () => /13/.test(await page.getByLabel('Payload').inputValue()), 'the payload')
        await page.getByLabel('Payload').fill('{"month": 12')
        await page.getByText('This is no JSON').waitFor()
        await page.getByLabel('Payload').fill('{"month": 12}')
        await button(page, 'Run it once with this payload').click()
        const run = await until(async () => (await call('GET', '/executions?queue=payload')).executions
            .find(one => one.retry_of === letter.execution_id), 'the new run')
        same((await call('GET', `/executions/${run.execution_id}`)).payload, { month: 12 }, 'the payload')
        check(await page.title() !== 'taken', 'the name was taken for HTML')
        await close(page)
    },
    'a worker shows what it runs, is cordoned and back': async () => {
        const { job_id: job } = await call('POST', '/jobs', { name: 'slow', command: ['sleep', '60'] })
        const { workers: [worker] } = await call('GET', '/workers')
        const page = await open('/workers')
        await page.getByRole('link', { name: worker.name }).click()
        await page.getByRole('link', { name: 'slow' }).waitFor()
        await button(page, 'Cordon …').click()
        await page.getByLabel('Reason').fill('new disk')
        await button(page, 'Cordon 1 worker').click()
        await page.getByText('new disk').waitFor()
        same((await call('GET', `/workers/${worker.worker_id}`)).status, 'cordoned', 'the worker')
        await button(page, 'Uncordon').click()
        await until(async () => (await call('GET', `/workers/${worker.worker_id}`)).status === 'active', 'the way back')
        await call('DELETE', `/jobs/${job}`)
        await button(page, 'Drain …').click()
        await page.getByText('This cannot be undone').waitFor()
        await button(page, 'Leave it').click() // others need it
        await close(page)
    },
    'a drained worker is told so': async () => {
        const id = await register()
        const page = await open(`/workers/${id}`)
        await button(page, 'Drain …').click()
        await button(page, 'Drain 1 worker').click()
        await button(page, 'Draining').waitFor()
        await close(page)
    },
    'a calendar is made of a file, changed by the form, and deleted': async () => {
        const page = await open('/calendars', { stranger: REFUSED })
        await button(page, 'Add a calendar').click()
        await page.getByLabel('iCalendar file (.ics)').setInputFiles({
            name: 'Feier tage.ics', mimeType: 'text/calendar', buffer: Buffer.from(calendarFile),
        })
        await until(async () => await page.getByLabel('Name').inputValue() === 'Feier-tage', 'the name')
        await button(page, 'Add it').click()
        await page.getByText('1 event of Feier-tage was not understood').waitFor()
        await page.getByRole('link', { name: 'Feier-tage' }).click()
        await page.getByLabel('Days').fill('2026-13-01')
        await button(page, 'Put it in place').click()
        await page.getByRole('alert').waitFor()
        await page.getByLabel('Days').fill('2026-12-31\n2027-01-02/2027-01-04')
        await button(page, 'Put it in place').click()
        await page.getByText('version 2.').waitFor()
        const { document } = await call('GET', '/calendars/Feier-tage')
        same(document.dates, ['2026-12-31', '2027-01-02/2027-01-04'], 'days')
        const { job_id: job } = await call('POST', '/jobs', { name: 'festive', command: ['true'],
            calendars: ['Feier-tage'], schedule: { cron: '0 3 * * *' } })
        await button(page, 'Delete …').click()
        await button(page, 'Delete Feier-tage').click()
        await page.getByRole('alert').getByText('go by the calendar').waitFor() // in the server's own words
        await page.locator(`a[href="/jobs/${job}"]`).waitFor()
        await call('DELETE', `/jobs/${job}`)
        await button(page, 'Delete …').click()
        await button(page, 'Delete Feier-tage').click()
        await page.getByText('There are no calendars yet.').waitFor()
        await close(page)
    },
    'a breaker tells why it is open, and is reset': async () => {
        await failing('smtp', 5, { breaker: 'smtp' })
        const page = await open('/breakers')
        await page.getByText('5 of 5 calls that ended within a minute failed').waitFor()
        await button(page, 'Reset smtp').click()
        await button(page, 'Reset 1 breaker').click()
        await until(async () => (await call('GET', '/breakers')).breakers.every(one => one.state === 'closed'),
            'it to close')
        await close(page)
    },
    'an alert is acknowledged with a note, and its key silenced': async () => {
        const page = await open('/alerts?key=breaker_open:*')
        await page.locator('tr[data-at="0"]').getByText('keeps failing').click()
        await button(page, 'Silence …').click()
        await page.getByLabel('Reason').fill('the post is closed')
        await button(page, 'Silence 1 key').click()
        await until(async () => (await call('GET', '/alerts/silences')).silences
            .some(one => one.key === 'breaker_open:smtp' && one.reason === 'the post is closed'), 'the silence')
        await page.locator('tr[data-at="0"]').getByText('keeps failing').click()
        await button(page, 'Acknowledge …').click()
        await page.getByLabel('Note').fill('on it')
        await button(page, 'Acknowledge 1 alert').click()
        await page.getByText('1 of 1 acknowledged').waitFor()
        const { alerts: [alert] } = await call('GET', '/alerts?key=breaker_open:smtp')
        same(alert.note, 'on it', 'the note')
        await page.goto('/alerts/silences')
        await page.getByText('the post is closed').waitFor()
        await button(page, 'End the silence of breaker_open:smtp').click()
        await until(async () => (await call('GET', '/alerts/silences')).silences.length === 0, 'it to end')
        await close(page)
    },
    'these pages are accessible, light, dark and on a phone': async () => {
        const { workers } = await call('GET', '/workers')
        const worker = workers.find(one => one.name !== 'mute/1') // that one may be forgotten meanwhile
        await failing('last', 1)
        await call('PUT', '/queues/press', { concurrency: 4 })
        const { dead_letters: [letter] } = await call('GET', '/dead-letters?queue=last')
        const { alerts: [alert] } = await call('GET', '/alerts?limit=1')
        await call('PUT', '/calendars/strange', { ical: calendarFile })
        const looks = [{}, { dark: true, viewport: PHONE }]
        const pages = [['/queues', /^Queues/], ['/queues/press', 'Queue press'], ['/dead-letters', /^Dead letters/],
            [`/dead-letters/${letter.execution_id}`, 'last-0'], ['/workers', /^Workers/],
            [`/workers/${worker.worker_id}`, `Worker ${worker.name}`], ['/breakers', /^Breakers/],
            ['/calendars?add=1', /^Calendars/], ['/calendars/strange', 'Calendar strange'], ['/alerts', 'Alerts'],
            ['/alerts/silences', 'Alerts'], [`/alerts/all?alert=${alert.alert_id}`, 'Alerts']]
        for (const look of looks) {
            const page = await open('/cron', look)
            await page.locator('.live-live').waitFor()
            for (const [path, heading] of pages) {
                await page.evaluate(path => { // as a click on a link does
                    const link = Object.assign(document.createElement('a'), { href: path })
                    document.body.append(link)
                    link.click()
                    link.remove()
                }, path)
                await page.locator('#main h1').filter({ hasText: heading }).waitFor()
                await page.locator('#main :is(p, table, form)').first().waitFor()
                same(await violations(page), [], `${path} ${JSON.stringify(look)}`)
                same(await squeezed(page), [], `${path}: columns without room`)
                const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth ||
                    document.getElementById('main').scrollWidth > document.getElementById('main').clientWidth + 1)
                check(!wide, `${path} is wider than a ${JSON.stringify(look)} screen`)
            }
            await close(page)
        }
    },
})
