// Cron, operations, settings, the search with its actions, and the keys.
import { call, check, close, open, PHONE, run, same, squeezed, until, violations } from './rig.mjs'

const REFUSED = ['Failed to load resource']

await run({
    'an expression is explained as one types': async () => {
        const page = await open('/cron', { stranger: REFUSED })
        await page.getByRole('link', { name: '30 2 * * *' }).click()
        await page.getByText('at 02:30 every day').waitFor()
        await page.getByLabel('Zone').fill('Europe/Berlin')
        await page.getByText('at 02:30 every day (Europe/Berlin)').waitFor()
        check(page.url().includes('timezone=Europe%2FBerlin'), page.url())
        await page.getByLabel('Expression').fill('99 * * * *')
        await page.getByText('minute: 99 is not between 0 and 59').waitFor()
        await page.getByLabel('Expression').fill('@every 1s')
        await page.getByText('only 1 s apart').waitFor()
        await page.goto('/cron?cron=30+2+29+3+*&timezone=Europe/Berlin')
        await page.getByText('does not exist').first().waitFor()
        await close(page)
    },
    'an operation is listed with what it did, and what was refused': async () => {
        await call('POST', '/jobs/batch', { jobs: Array.from({ length: 5 }, (_, i) => ({
            name: `operated-${i}`, command: ['true'], schedule: { delay: '300d' },
        })) })
        const { jobs } = await call('GET', '/jobs?name=operated-*')
        await call('DELETE', `/jobs/${jobs[0].job_id}`)
        await call('POST', '/jobs/actions', { action: 'pause', ids: jobs.map(job => job.job_id) })
        const page = await open('/operations')
        await page.getByRole('link', { name: 'Pause jobs' }).click()
        await page.getByText('4 of 5 paused, 1 refused, it is done.').waitFor()
        await page.getByText('key:admin').first().waitFor()
        same(await page.locator('.operation-refusals a').getAttribute('href'), `/jobs/${jobs[0].job_id}`, 'its job')
        await close(page)
    },
    'settings are found by their name, with where they come from': async () => {
        const page = await open('/settings')
        await page.getByLabel('Name', { exact: true }).fill('listen')
        await until(async () => await page.locator('.setting').count() <= 5, 'few settings')
        await page.locator('#setting-listen').getByText('from a flag of the command').waitFor()
        await page.goto('/cluster')
        await page.getByText('has the store for itself').waitFor()
        await close(page)
    },
    'the search finds ids by a part, and acts on jobs after asking': async () => {
        const { job_id: id } = await call('POST', '/jobs', { name: 'sought', command: ['true'],
            schedule: { cron: '0 3 1 1 *' } })
        const { executions: before } = await call('GET', `/jobs/${id}/executions`)
        const page = await open('/')
        const search = async text => {
            await page.keyboard.press('Control+k')
            await page.locator('dialog[open] input:focus').waitFor()
            await page.keyboard.type(text)
        }
        await page.locator('.live-live').waitFor()
        for (let i = 0; i < 5; i++) { // as fast as keys come
            await page.keyboard.press('Control+k')
            await page.keyboard.press('Escape')
        }
        await search(id.slice(-6))
        await page.getByRole('option', { name: new RegExp(id) }).waitFor()
        await page.keyboard.press('Escape')
        await search('new j')
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'New job' }).waitFor()
        await search('pause s') // one letter of a name is enough behind a word
        await page.getByRole('option', { name: 'Pause sought' }).waitFor()
        await page.keyboard.press('Escape')
        await search('pause sought')
        await page.getByRole('option', { name: 'Pause sought' }).waitFor()
        await page.keyboard.press('Enter')
        await page.getByText('sought is paused.').waitFor()
        await page.getByRole('button', { name: 'Undo' }).click()
        await page.getByText('It is as it was before.').waitFor()
        same((await call('GET', `/jobs/${id}`)).status, 'active', 'its status')
        await page.goto(`/jobs/${id}`)
        await page.locator('.live-live').waitFor()
        await search('trigger this')
        await page.getByRole('option', { name: 'Trigger this job' }).waitFor()
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: 'Trigger it' }).click()
        await page.getByText(/was triggered/).waitFor()
        const { executions: after } = await call('GET', `/jobs/${id}/executions`)
        same(after.length, before.length + 1, 'its runs')
        await search(id)
        await page.getByRole('option', { name: `${id} by its id` }).waitFor()
        await close(page)
    },
    'keys go to pages, and a sheet names them': async () => {
        const page = await open('/')
        await page.locator('.live-live').waitFor()
        await page.keyboard.press('?')
        await page.getByRole('heading', { name: 'Keys' }).waitFor()
        same(await violations(page), [], 'the sheet')
        await page.keyboard.press('Escape')
        await page.keyboard.press('g')
        await page.keyboard.press('s')
        await page.getByRole('heading', { name: 'Settings' }).waitFor()
        await page.getByLabel('Name', { exact: true }).fill('g')
        await page.keyboard.press('j')
        same(new URL(page.url()).pathname, '/settings', 'typing is no jump')
        await close(page)
    },
    'these pages are accessible, light, dark and on a phone': async () => {
        for (const look of [{}, { dark: true, viewport: PHONE }]) {
            const page = await open('/', look)
            for (const path of ['/cluster', '/settings', '/operations', '/cron?cron=30+2+*+*+*', '/cron']) {
                await page.goto(path)
                await page.locator('.live-live').waitFor()
                await page.locator('#main h1').waitFor({ state: 'attached' })
                if (['/cluster', '/operations'].includes(path))
                    await page.locator('#main tr[data-at="0"]').first().waitFor()
                same(await violations(page), [], `${path} ${JSON.stringify(look)}`)
                same(await squeezed(page), [], `${path}: columns without room`)
                const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
                check(!wide, `${path} is wider than a ${JSON.stringify(look)} screen`)
            }
            await close(page)
        }
    },
})
