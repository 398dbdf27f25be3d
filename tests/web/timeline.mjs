// The timeline, the comparison with the last good run, and the load of an hour, in a browser.
import { call, check, close, open, PHONE, run, same, until, url, violations } from './rig.mjs'

const over = id => until(async () => {
    const one = await call('GET', `/executions/${id}`)
    return ['completed', 'failed'].includes(one.status) && one
}, `the end of ${id}`)

const trigger = async id => over((await call('POST', `/jobs/${id}/trigger`, {})).execution_id)

async function edit(id, patch) {
    const { version } = await call('GET', `/jobs/${id}`)
    const answer = await fetch(`${url}/api/v1/jobs/${id}`, {
        method: 'PATCH', body: JSON.stringify(patch),
        headers: { Authorization: `Bearer ${process.env.BELFRY_TOKEN}`, 'Content-Type': 'application/merge-patch+json',
            'If-Match': `"${version}"` },
    })
    check(answer.ok, await answer.text())
}

let good
let bad

await run({
    'a failed run stands beside the last good one, from both sides': async () => {
        const { job_id: id } = await call('POST', '/jobs', { name: 'compared', retry: { max_retries: 0 },
            command: 'date; echo reading; echo 120 rows', schedule: { cron: '0 3 1 1 *' } })
        good = await trigger(id)
        await edit(id, { command: 'date; echo reading; echo 0 rows; exit 3' })
        bad = await trigger(id)
        const page = await open(`/executions/${bad.execution_id}`)
        await page.getByRole('link', { name: 'Compare with the last good run' }).click()
        await page.getByText(/It differs in: definition,.*exit code/).waitFor()
        await page.getByRole('row', { name: 'Definition differs version 2 version 1' }).waitFor()
        await page.getByText('from version 1 to 2').waitFor()
        same(await page.locator('.compare-line.is-before').innerText(), '3\n−\nonly the other one:\n120 rows',
            'its line')
        check(/0 rows/.test(await page.locator('.compare-line.is-after').innerText()), 'the other line')
        same(await violations(page), [], 'the comparison')
        await page.getByRole('link', { name: 'The good one' }).click()
        await page.getByRole('row', { name: 'Definition differs version 1 version 2' }).waitFor()
        await page.goto(`/executions/${good.execution_id}/compare`)
        await page.getByText('No run of this job succeeded before this one.').waitFor()
        await close(page)
    },
    'the timeline shows what ran and what is ahead, as a picture and as a table': async () => {
        await call('POST', '/jobs', { name: 'ahead', command: 'true', queue: 'coming', schedule: { every: '4m' } })
        const page = await open('/timeline?span=15m', { stranger: ['Failed to load resource'] })
        await page.getByText(/^2 executions ran here: 1 failed; (1 is|2 are) ahead/).waitFor()
        same(await page.locator('.timeline-bar.is-bad').getAttribute('href'), `/executions/${bad.execution_id}`,
            'its bar')
        same(await page.locator('.timeline-label a').allInnerTexts(), ['coming', 'default'], 'lanes')
        await page.locator('.timeline-bar.is-ahead').first().waitFor()
        await page.locator('.timeline-plot').focus()
        await page.keyboard.press('-')
        await until(() => page.url().includes('span=1h'), 'to be zoomed')
        await page.keyboard.press('ArrowLeft')
        await until(() => page.url().includes('from='), 'to be moved')
        await page.keyboard.press('Home')
        await until(() => !page.url().includes('from='), 'to follow again')
        const box = await page.locator('.timeline-axis .timeline-bars').boundingBox()
        await page.mouse.move(box.x + 100, box.y + 10)
        await page.mouse.down()
        await page.mouse.move(box.x + 300, box.y + 10, { steps: 4 })
        await page.mouse.up()
        await until(() => page.url().includes('from='), 'to be dragged')
        await page.getByRole('button', { name: 'Now' }).click()
        await page.getByRole('button', { name: 'By worker' }).click()
        await page.getByText('Ahead: nobody has taken them').waitFor()
        await page.getByRole('button', { name: 'Table' }).click()
        await page.getByRole('row', { name: /compared.*failed/ }).waitFor()
        same(await violations(page), [], 'the table')
        await page.getByRole('button', { name: 'Picture' }).click()
        await page.locator('.timeline-bar').first().waitFor()
        await page.emulateMedia({ colorScheme: 'dark' })
        same(await violations(page), [], 'the picture in the dark')
        await page.setViewportSize(PHONE)
        await until(async () => await page.locator('.timeline-lane').first().evaluate(lane =>
            getComputedStyle(lane).gridTemplateColumns.split(' ').length) === 1, 'labels to stand above their lanes')
        same(await violations(page), [], 'the picture on a phone')
        check(!await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), 'it is too wide')
        await page.goto('/timeline?queue=nobody')
        await page.getByText('Nothing ran in this stretch').waitFor()
        await page.goto('/timeline?worker=nonsense')
        await page.getByRole('alert').getByText("'nonsense' is not an id").first().waitFor()
        await close(page)
    },
    'a schedule that is typed is told how busy it is then': async () => {
        await call('POST', '/jobs/batch', { jobs: Array.from({ length: 12 }, (_, i) => ({
            name: `night-${i}`, command: 'true', queue: 'night', schedule: { cron: '0 3 * * *' } })) })
        const page = await open('/jobs/new')
        let asked = 0
        page.on('request', request => asked += /schedule\/forecast/.test(request.url()))
        await page.getByLabel('By the calendar (cron)').check()
        await page.locator('summary').click()
        await page.getByLabel('Queue', { exact: true }).fill('night')
        await page.getByText(/At 03:00 12 other runs are due in the queue night.* Quieter: /).waitFor()
        await page.getByLabel('Cron expression').fill('30 4 * * *')
        await page.getByText(/At 04:30 nothing else is due/).waitFor()
        check(asked <= 3, `${asked} forecasts`) // of the usual queue, and of the one that was typed
        await close(page)
    },
})
