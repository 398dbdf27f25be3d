// The dashboard in front of several servers: BELFRY_NODES has their addresses, BELFRY_DATABASE the store, and
// BELFRY_OTHER_KEY is a key whose name is `going`, which is taken away meanwhile.
import { execFileSync } from 'node:child_process'
import { call, check, close, open, run, same, until } from './rig.mjs'

const nodes = process.env.BELFRY_NODES.split(' ')
const REFUSED = ['Failed to load resource', 'net::ERR']

const sql = text => execFileSync('psql', ['-Atc', text, process.env.BELFRY_DATABASE], { encoding: 'utf8' })

async function linkFor(node) {
    const { code } = await call('POST', '/sessions/codes')
    return `${node}/#code=${code}`
}

await run({
    'a link of one server signs in at each, once': async () => {
        const link = await linkFor(nodes[1])
        const page = await open(link, { keyed: false, base: nodes[1] })
        await page.locator('.live-live').waitFor()
        await close(page)
        const again = await open(link.replace(nodes[1], nodes[2]), { keyed: false, base: nodes[2], stranger: REFUSED })
        await again.getByRole('alert').getByText('used before').waitFor()
        await close(again)
    },
    'who owns what, and which settings are whose': async () => {
        const page = await open('/cluster')
        await page.getByText('3 servers share 16 partitions').waitFor()
        await page.getByText('What to do:').first().waitFor()
        await page.getByRole('table', { name: 'Servers' }).getByRole('link', { name: 'b', exact: true }).click()
        await page.getByRole('button', { name: 'of b' }).click()
        await page.getByRole('menuitemradio', { name: 'c', exact: true }).click()
        await until(() => page.url().includes('server=c'), 'the address')
        await page.getByRole('link', { name: /set by somebody/ }).click()
        await page.getByText('from a flag of the command').first().waitFor()
        await page.goto('/cluster')
        await page.getByText('16 partitions, one by one').click()
        const partitions = page.getByRole('table', { name: 'Partitions' })
        await until(async () => {
            await page.locator('#main').evaluate(main => main.scrollTo(0, main.scrollHeight))
            return partitions.locator('tr[data-at="15"]').count()
        }, 'the last partition')
        await close(page)
    },
    'a key that is taken away ends its pages': async () => {
        const page = await open('/signin', { keyed: false, base: nodes[1], stranger: REFUSED })
        await page.getByLabel('Key', { exact: true }).fill(process.env.BELFRY_OTHER_KEY)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.locator('.live-live').waitFor()
        await page.locator('.top-who').getByText('going').waitFor()
        sql("DELETE FROM belfry.api_key WHERE name = 'going'; " +
            "UPDATE belfry.meta SET value = (value::bigint + 1)::text WHERE key = 'settings_version'")
        await page.getByLabel('Key', { exact: true }).waitFor()
        check(await page.getByText('going').count() === 0, 'what was shown is still there')
        await close(page)
    },
})
