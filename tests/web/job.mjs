// The page of a job and the form of a new one: every action once, against the server.
import { call, check, close, open, PHONE, run, same, titled, until, violations } from './rig.mjs'

const HOSTILE = '<img src=x onerror=alert(1)> שלום 🎉'

const YEARLY = { cron: '0 3 1 1 *' }

/** The id of a job that is made for a test. */
async function make(job) {
    return (await call('POST', '/jobs', { command: ['true'], schedule: YEARLY, ...job })).job_id
}
const read = id => call('GET', `/jobs/${id}`)
const said = (page, text) => page.getByRole('status').getByText(text).first().waitFor()

await run({
    'a job says how it is, and is paused and resumed with a way back': async () => {
        const id = await make({ name: HOSTILE, description: 'of the night' })
        const page = await open(`/jobs/${encodeURIComponent(HOSTILE)}`)
        await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
        await titled(page, `${HOSTILE} · belfry`)
        await page.getByText('At 03:00 on day 1 of the month in January (UTC)', { exact: false }).first().waitFor()
        await page.getByText('2027-01-01 03:00:00 UTC').first().waitFor({ state: 'attached' })
        await page.getByRole('button', { name: 'Pause' }).click()
        await page.getByRole('button', { name: 'Resume' }).waitFor()
        same((await read(id)).status, 'paused', 'the job')
        await page.getByRole('button', { name: 'Undo' }).click()
        await page.getByRole('button', { name: 'Pause' }).waitFor()
        same((await read(id)).status, 'active', 'the job again')
        await page.getByRole('button', { name: 'Pause' }).click()
        await page.getByRole('button', { name: 'Undo' }).waitFor()
        await call('POST', `/jobs/${id}/resume`)
        await call('POST', `/jobs/${id}/pause`)
        await page.getByRole('button', { name: 'Undo' }).last().click()
        await page.getByText('has changed').waitFor()
        same((await read(id)).status, 'paused', 'what somebody else has done since')
        await close(page)
    },
    'it is triggered with another payload, and its run is in the lists': async () => {
        const id = await make({ name: 'triggered', command: ['cat'], payload: { month: 11 } })
        const page = await open(`/jobs/${id}`)
        await page.getByRole('button', { name: 'Trigger …' }).click()
        await page.getByLabel('With another payload').check()
        await page.getByLabel('Payload, as JSON').fill('{"month": }')
        check(await page.getByRole('button', { name: 'Trigger 1 run' }).isDisabled(), 'no JSON is sent')
        await page.getByLabel('Payload, as JSON').fill('{"month": 12}')
        await page.getByRole('button', { name: 'Trigger 1 run' }).click()
        await page.getByRole('link', { name: 'Its run' }).waitFor()
        await until(async () => (await read(id)).last_execution?.status === 'completed', 'the run')
        await page.getByRole('link', { name: 'Executions', exact: true }).last().click()
        await page.locator('tr[data-at="0"]').getByText('completed').waitFor()
        await close(page)
    },
    'slots that were skipped say why, and arrows move among them': async () => {
        const id = await make({ name: 'skips', command: ['sleep', '60'], schedule: { every: '1s' } })
        const slots = async () => (await call('GET', `/jobs/${id}/slots?limit=200`)).slots
        await until(async () => (await slots()).some(one => one.outcome === 'skipped'), 'a slot to be skipped')
        const page = await open(`/jobs/${id}`)
        const cells = page.getByRole('group', { name: 'Past slots' }).getByRole('button')
        await cells.nth(1).waitFor()
        await cells.nth(0).focus()
        await page.keyboard.press('ArrowRight')
        await page.locator('.pastslots-said').getByText('is not over yet', { exact: false }).waitFor()
        await page.getByRole('button', { name: 'Cancel …' }).click()
        await page.getByRole('button', { name: 'Cancel this job' }).click()
        await until(async () => (await read(id)).status === 'cancelled', 'the job to be cancelled')
        await page.getByRole('button', { name: 'Pause' }).waitFor({ state: 'detached' })
        await close(page)
    },
    'an edit is checked while one types, saved, and undone': async () => {
        const id = await make({ name: 'edited', tags: { env: 'prod' } })
        const page = await open(`/jobs/${id}/edit`, { stranger: ['400 (Bad Request)'] })
        await page.getByLabel('Priority').fill('high')
        await page.locator('.field-error').getByText('must be', { exact: false }).first().waitFor()
        await page.getByLabel('Priority').fill('900')
        await page.getByLabel('Tags').fill('env=staging')
        await said(page, 'The server would take it.')
        await page.locator('.versions-list').getByText('"staging"').waitFor()
        await page.getByRole('button', { name: 'Save as version 2' }).click()
        await page.getByText('Version 2, with defaults filled in', { exact: false }).waitFor()
        same([(await read(id)).priority, (await read(id)).tags.env], [900, 'staging'], 'what was edited')
        await page.getByRole('button', { name: 'Undo' }).click()
        await until(async () => (await read(id)).priority === 500, 'the edit to be undone')
        await close(page)
    },
    'an edit that comes second is made to what the first one left': async () => {
        const id = await make({ name: 'contended' })
        const page = await open(`/jobs/${id}/edit`, { stranger: ['412', '(Precondition Failed)'] })
        await page.getByLabel('What it is for').fill('mine')
        await call('POST', `/jobs/${id}/rollback`, { version: 1 }).catch(() => {})
        await call('PUT', '/jobs/by-name/contended', { command: ['true'], schedule: YEARLY, priority: 7 })
        await page.getByRole('button', { name: 'Make my changes to the newest version' }).click()
        await page.getByRole('button', { name: 'Save as version 3' }).click()
        await until(async () => (await read(id)).version === 3, 'the third version')
        const job = await read(id)
        same([job.priority, job.description], [7, 'mine'], 'both changes')
        await close(page)
    },
    'versions tell what they changed, and one is given back': async () => {
        const id = await make({ name: 'versioned', priority: 1 })
        await call('PUT', '/jobs/by-name/versioned', { command: ['false'], schedule: YEARLY, priority: 1 })
        const page = await open(`/jobs/${id}/versions`)
        await page.locator('.versions-list').getByText('["false"]').waitFor()
        await page.getByRole('button', { name: 'Roll back to it …' }).click()
        await page.getByRole('button', { name: 'Roll back to version 1' }).click()
        await until(async () => (await read(id)).command[0] === 'true', 'the version before')
        await page.getByRole('heading', { name: 'Version 3' }).waitFor()
        await close(page)
    },
    'the definition is told in all forms, and a graph is walked by keyboard': async () => {
        const { results } = await call('POST', '/jobs/batch', { jobs: [
            { name: 'first', command: ['true'], schedule: YEARLY },
            { name: 'second', command: ['true'], schedule: YEARLY, depends_on: [{ job: 'first' }] },
            { name: 'third', command: ['true'], schedule: YEARLY, depends_on: [{ job: 'second' }] },
        ] })
        const page = await open(`/jobs/${results[1].job_id}/definition`)
        await page.getByRole('button', { name: 'YAML' }).click()
        await page.locator('.code pre', { hasText: 'cron: "0 3 1 1 *"' }).waitFor()
        check(page.url().includes('as=yaml'), page.url())
        await page.getByRole('button', { name: 'Command line' }).click()
        await page.locator('.code pre', { hasText: 'belfry submit --name second' }).waitFor()
        await page.getByRole('link', { name: 'Depends' }).click()
        const nodes = page.locator('.graph a')
        await until(async () => await nodes.count() === 3, 'three jobs')
        await page.getByRole('link', { name: /^first, / }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'first' }).waitFor()
        await close(page)
    },
    'a job is made by a form that anyone can fill': async () => {
        const page = await open('/jobs/new', { stranger: ['400 (Bad Request)', '412 ('] })
        await page.getByLabel('Name', { exact: true }).fill('made-here')
        await page.getByLabel('Command line', { exact: true }).fill('echo it\'s')
        await page.getByLabel('By the calendar (cron)').check()
        await page.getByLabel('Repeats').selectOption('weekly')
        await page.getByRole('button', { name: 'Fri' }).click()
        await page.getByLabel('Hour').selectOption('9')
        await page.locator('.cronfield-preview').getByText('at 09:00 on Monday and Friday', { exact: false }).waitFor()
        await page.getByLabel('Cron expression').fill('99 * * * *')
        await page.locator('.field-error').getByText('99 is not between 0 and 59', { exact: false }).first().waitFor()
        await page.getByLabel('Cron expression').fill('* * * * * *')
        await page.getByLabel('Six fields: the first is seconds').check()
        await page.getByText('about 86,400 a day', { exact: false }).waitFor()
        await page.getByLabel('Six fields: the first is seconds').uncheck()
        await page.getByLabel('Cron expression').fill('0 9 * * 5')
        await page.getByText('--name made-here', { exact: false }).waitFor()
        await said(page, 'The server would take it.')
        await page.getByRole('button', { name: 'Submit 1 job' }).click()
        await page.getByRole('heading', { level: 1, name: 'made-here' }).waitFor()
        const job = await call('GET', '/jobs/by-name/made-here')
        same([job.command, job.schedule.cron], ['echo it\'s', '0 9 * * 5'], 'what was made')
        await page.goto(`/jobs/new?from=${job.job_id}`)
        await page.getByLabel('Name', { exact: true }).fill('made-here')
        await page.locator('.field-error').getByText('there is an unfinished job', { exact: false }).waitFor()
        await close(page)
    },
    'the pages of a job are accessible, light, dark and on a phone': async () => {
        const job = `/jobs/${await make({ name: 'x'.repeat(200) })}`
        const looks = [
            [{ dark: true }, [job, `${job}/versions`, `${job}/definition`, '/jobs/third/graph', '/jobs/nobody']],
            [{ viewport: PHONE }, [job, `${job}/executions`, `${job}/edit`, '/jobs/new']],
        ]
        for (const [look, paths] of looks) {
            const page = await open('/nowhere', { ...look, stranger: ['404 (Not Found)'] })
            for (const path of paths) {
                await page.goto(path)
                await page.locator('.panel:visible, .empty:visible, .graph, .code, .table').first().waitFor()
                same(await violations(page), [], `${path} ${JSON.stringify(look)}`)
                const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
                check(!wide, `${path} is wider than a ${JSON.stringify(look)} screen`)
                const tab = await page.evaluate(() =>
                    document.querySelector('.tab[aria-current]')?.getBoundingClientRect().right ?? 0)
                check(tab <= page.viewportSize().width, `the tab of ${path} is beyond the edge`)
            }
            await close(page)
        }
    },
})
