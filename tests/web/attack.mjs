// What others may try, and what may go wrong, in a browser: links used twice, forged cookies, pages of other sites,
// names that are code, servers that die, pages that sleep, keys that are typed wrong.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, close, open, PHONE, run, same, serve, until, violations } from './rig.mjs'

const REFUSED = ['Failed to load resource', 'net::ERR']
const HOSTILE = ['<img src=x onerror="window.hacked=1">', '"><script>window.hacked=1</script>', '\u202egnp.exe\u202c',
    '😀😀😀 four bytes', `${'w'.repeat(200)}`, '${window.hacked=1}{{1+1}}']

const server = await serve()
const newLink = async (from = server) => (await from.call('POST', '/sessions/codes')).url
const visit = (path, more = {}) => open(path, { keyed: false, base: server.url, ...more })
const cookiesOf = page => page.context().cookies()

/** A browser that has signed in by a link. */
async function signedIn(path = '/', more = {}) {
    const page = await visit(await newLink(more.from), { stranger: REFUSED, ...more })
    await page.locator('.live-live').waitFor()
    if (path !== '/')
        await page.goto(path)
    return page
}

const kept = page => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie,
    document.documentElement.outerHTML, location.href]))

/** A site on another port of this machine: for cookies that is the same site. Answers `html` to everything. */
async function otherSite(html) {
    const site = createServer((_, answer) => answer.writeHead(200, { 'Content-Type': 'text/html' }).end(html))
    await new Promise(resolve => site.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${site.address().port}/`, close: () => site.close() }
}

await run({
    'a link signs in once, and its code is in no address': async () => {
        const link = await newLink()
        const code = link.split('#code=')[1]
        const page = await visit('about:blank', { stranger: REFUSED })
        const asked = []
        page.on('request', request => asked.push(request.url()))
        await page.goto(link)
        await page.locator('.live-live').waitFor()
        same(page.url(), `${server.url}/`, 'the address')
        check(!asked.some(url => url.includes(code)), 'the code was in an address')
        check(!(await kept(page)).includes(code), 'the page has kept the code')
        const [cookie] = await cookiesOf(page)
        same([cookie.httpOnly, cookie.sameSite], [true, 'Strict'], 'the cookie')
        await close(page)
        const late = await visit(link, { stranger: REFUSED })
        await late.getByRole('alert').getByText('used before').waitFor()
        await late.getByText('This prints a new one').waitFor()
        same(late.url(), `${server.url}/`, 'the address of the second try')
        await close(late)
    },
    'a link that is used up does not sign out who is in': async () => {
        const page = await signedIn()
        const link = await newLink()
        await close(await visit(link).then(async other => {
            await other.locator('.live-live').waitFor()
            return other
        }))
        await page.goto('about:blank')
        await page.goto(link)
        await page.getByRole('button', { name: 'Go on as key:admin@web' }).click()
        await page.locator('.live-live').waitFor()
        await close(page)
    },
    'a key that is typed leads to where one was going, and is kept nowhere': async () => {
        const page = await visit('/jobs?name=nobody', { stranger: REFUSED })
        await page.getByLabel('Key', { exact: true }).fill(server.key())
        await page.keyboard.press('Enter')
        await page.getByText('No job fits these filters.').waitFor()
        same(page.url(), `${server.url}/jobs?name=nobody`, 'the address')
        check(!(await kept(page)).includes(server.key()), 'the key is kept')
        await close(page)
    },
    'what a key may not call is not offered': async () => {
        for (const viewport of [undefined, PHONE]) {
            const page = await visit('/signin', { stranger: REFUSED, viewport })
            await page.getByLabel('Key', { exact: true }).fill(server.key('worker'))
            await page.keyboard.press('Enter')
            await page.getByRole('heading', { name: 'This page is not for this key' }).waitFor()
            same(await page.locator('.side a').count(), 0, 'pages in the side bar')
            same(await violations(page), [], 'accessible')
            await page.getByRole('button', { name: 'Sign out', exact: true }).click()
            await page.getByLabel('Key', { exact: true }).waitFor()
            await close(page)
        }
    },
    'cookies that are forged, of before, or of another server are none': async () => {
        const page = await signedIn()
        const [cookie] = await cookiesOf(page)
        const other = await serve()
        const theirs = await signedIn('/', { from: other, base: other.url })
        const [foreign] = await cookiesOf(theirs)
        await close(theirs)
        await other.end()
        const flip = text => text.slice(0, -2) + (text.endsWith('AA') ? 'BB' : 'AA')
        for (const value of [flip(cookie.value), foreign.value, 'x', 'A'.repeat(4000)]) {
            const forged = await visit('/jobs', { stranger: REFUSED, cookies: [{ ...cookie, value }] })
            await forged.getByLabel('Key', { exact: true }).waitFor()
            same((await cookiesOf(forged)).length, 0, `cookies left after ${value.slice(0, 8)}`)
            await close(forged)
        }
        await page.locator('.top-who').click()
        await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
        await page.getByRole('button', { name: 'Sign out everywhere' }).click()
        await page.getByLabel('Key', { exact: true }).waitFor()
        await close(page)
        const old = await visit('/jobs', { stranger: REFUSED, cookies: [cookie] })
        await old.getByLabel('Key', { exact: true }).waitFor()
        await close(old)
    },
    'a link is good for two minutes, and a session for twelve hours': async () => {
        const library = readdirSync('/usr/lib').map(name => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`)
            .find(path => existsSync(path))
        if (/-t?san\//.test(process.env.BELFRY ?? ''))
            return // its runtime insists on being loaded first, and so does libfaketime
        check(library, 'libfaketime is missing: scripts/deps test installs it')
        const dir = mkdtempSync(join(tmpdir(), 'belfry-web-time-'))
        const clock = join(dir, 'away')
        const set = away => writeFileSync(clock, away)
        set('+0')
        const later = await serve({ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' })
        const page = await signedIn('/settings', { from: later, base: later.url })
        const link = await newLink(later)
        set('+121')
        const late = await visit(link, { stranger: REFUSED, base: later.url })
        await late.getByRole('alert').getByText('older than two minutes').waitFor()
        await close(late)
        await page.reload()
        await page.getByRole('heading', { name: 'Settings' }).waitFor()
        set('+43201')
        await page.getByLabel('Key', { exact: true }).waitFor() // without being asked for anything
        await close(page)
        await later.end()
        rmSync(dir, { recursive: true })
    },
    'signing out takes one browser, everywhere takes all, and each comes back to its page': async () => {
        const [one, two] = [await signedIn('/cron?cron=@daily'), await signedIn('/settings')]
        await one.locator('.top-who').click()
        await one.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
        await one.getByLabel('Key', { exact: true }).waitFor()
        same((await cookiesOf(one)).length, 0, 'cookies')
        await two.reload()
        await two.locator('.live-live').waitFor()
        await server.call('DELETE', '/sessions?everywhere=true')
        await two.getByLabel('Key', { exact: true }).waitFor()
        same(new URL(two.url()).pathname, '/settings', 'the address')
        await two.getByLabel('Key', { exact: true }).fill(server.key())
        await two.getByRole('button', { name: 'Sign in' }).click()
        await two.getByRole('heading', { name: 'Settings' }).waitFor()
        await close(one)
        await close(two)
    },
    'a page of another site, or of another port, can do nothing': async () => {
        await server.call('POST', '/jobs', { name: 'target', command: ['true'], queue: 'target',
            schedule: { delay: '300d' } })
        const api = `${server.url}/api/v1`
        const site = await otherSite(`<title>other</title>
            <form id="form" target="sink" method="post" enctype="text/plain" action="${api}/queues/target/pause"></form>
            <iframe name="sink"></iframe><iframe src="${server.url}/jobs"></iframe>
            <script>
            const tries = [['POST', {}, 'no-cors'], ['POST', { 'X-Belfry': '1' }, 'cors'],
                ['POST', { 'Content-Type': 'text/plain' }, 'cors'], ['GET', {}, 'cors']]
            form.submit()
            Promise.allSettled(tries.map(([method, headers, mode]) => fetch('${api}/queues/target' +
                (method === 'POST' ? '/pause' : ''), { method, headers, mode, credentials: 'include' })
                .then(answer => answer.type === 'opaque' ? 'opaque' : answer.text()))).then(all => {
                    window.told = all.map(one => one.status === 'fulfilled' ? one.value : 'refused')
                })
            </script>`)
        const page = await signedIn('/', { stranger: [...REFUSED, 'CORS', 'frame-ancestors', 'Refused to'] })
        // The same site for cookies, since they know no ports, and one that is not.
        for (const host of ['127.0.0.1', 'localhost']) {
            const answers = []
            const hear = answer => answer.url().startsWith(api) && answer.request().method() === 'POST' &&
                answers.push(answer.status())
            page.context().on('response', hear)
            const other = await page.context().newPage()
            await other.goto(site.url.replace('127.0.0.1', host))
            same(await until(() => other.evaluate(() => window.told), 'the tries'),
                ['opaque', 'refused', 'refused', 'refused'], `what ${host} saw`)
            await until(() => answers.length >= 2, 'the form to be answered')
            check(answers.every(status => [401, 403, 404, 405].includes(status)), `answers to ${host}: ${answers}`)
            same((await server.call('GET', '/queues/target')).paused, false, 'the queue is paused')
            const frames = await Promise.all(other.frames().slice(1).map(frame => frame.content().catch(() => '')))
            check(!frames.some(text => text.includes('id="app"')), 'the dashboard is in a frame')
            page.context().off('response', hear)
            await other.close()
        }
        site.close()
        await close(page)
    },
    'names that are code are text, and break nothing': async () => {
        await server.call('POST', '/jobs/batch', { jobs: HOSTILE.map((name, i) => ({
            name, command: [name], queue: `hostile-${i}`, tags: { t: `v${i}` }, schedule: { delay: '300d' },
        })) })
        const { jobs } = await server.call('GET', '/jobs?limit=20')
        const paths = ['/', '/jobs', ...jobs.slice(0, HOSTILE.length).map(job => `/jobs/${job.job_id}`)]
        for (const viewport of [undefined, PHONE]) {
            const page = await signedIn('/', { viewport })
            for (const path of paths) {
                await page.goto(path)
                await page.locator('#main h1').waitFor({ state: 'attached' })
                await page.locator('.live-live').waitFor()
                const [hacked, wide, images] = await page.evaluate(() => [window.hacked,
                    document.documentElement.scrollWidth > innerWidth, document.querySelectorAll('#app img').length])
                same([hacked ?? null, wide, images], [null, false, 0], `${path}: hacked, too wide, images`)
            }
            await page.keyboard.press('Control+k')
            await page.locator('dialog[open] input:focus').waitFor()
            await page.keyboard.type('<img')
            await page.getByRole('option', { name: /<img src=x/ }).first().waitFor()
            await close(page)
        }
    },
    'every page is opened without a complaint, and an address without a page is 404': async () => {
        const page = await visit(await newLink())
        await page.locator('.live-live').waitFor()
        const paths = await page.locator('.side a').evaluateAll(links => links.map(link => link.getAttribute('href')))
        for (const path of paths) {
            same((await page.goto(path)).status(), 200, path)
            await page.locator('#main h1').waitFor({ state: 'attached' })
            await page.locator('.live-live').waitFor()
        }
        check(page.faults.length === 0, page.faults.join('; '))
        same((await page.goto('/no/such/page')).status(), 404, 'the status')
        await page.getByText('There is no page at this address').waitFor()
        await page.context().close()
    },
    'ten thousand queues are shown': async () => {
        for (let i = 0; i < 10; i++)
            await server.call('POST', '/jobs/batch', { jobs: Array.from({ length: 1000 }, (_, n) => ({
                command: ['true'], queue: `q-${i * 1000 + n}`, schedule: { delay: '300d' },
            })) })
        const page = await signedIn('/queues')
        await page.locator('#main h1').waitFor({ state: 'attached' })
        await page.locator('.live-live').waitFor()
        check(await page.locator('#main tr').count() < 200, 'all rows are drawn')
        await page.goto('/queues/q-4999') // none of those that ticks tell of
        await page.locator('.queue-figure', { hasText: 'dead letters' }).getByText('0', { exact: true }).waitFor()
        await page.goto('/')
        await page.locator('.figure').first().waitFor()
        await close(page)
    },
    'a server that is killed under a page is said, and its return, too': async () => {
        const page = await signedIn('/jobs?name=target')
        await page.locator('tr[data-at="0"]').waitFor()
        await server.kill()
        await page.locator('.live-away, .live-old').waitFor()
        await page.locator('.old-data').waitFor()
        check(await page.locator('tr[data-at="0"]').count() === 1, 'the list is gone')
        await server.start()
        await page.locator('.live-live').waitFor()
        await page.locator('.old-data').waitFor({ state: 'detached' })
        await close(page)
    },
    'a page that slept shows what has happened meanwhile': async () => {
        const page = await signedIn('/jobs?name=meanwhile')
        await page.getByText('No job fits these filters.').waitFor()
        const line = await page.context().newCDPSession(page)
        await line.send('Page.setWebLifecycleState', { state: 'frozen' })
        await server.kill()
        await server.start()
        await server.call('POST', '/jobs', { name: 'meanwhile', command: ['true'], schedule: { delay: '300d' } })
        await line.send('Page.setWebLifecycleState', { state: 'active' })
        await page.locator('tr[data-at="0"]').waitFor()
        await page.locator('.live-live').waitFor()
        await close(page)
    },
    'the eleventh wrong key is told when to try again': async () => {
        const page = await visit('/signin', { stranger: REFUSED })
        for (let i = 0; i < 11; i++) {
            await page.getByLabel('Key', { exact: true }).fill('nonsense')
            await page.keyboard.press('Enter')
            await page.getByRole('alert').waitFor()
        }
        await page.getByRole('button', { name: /^Try again in \d+ seconds?$/ }).waitFor()
        await page.goto(await newLink())
        await page.locator('.live-live').waitFor()
        await close(page)
    },
}, () => server.end())
