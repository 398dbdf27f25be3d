// What the tests of the dashboard share: a browser in front of the server that BELFRY_URL names, with the key in
// BELFRY_TOKEN. A test is a sentence and a function; the verdict is a line that scripts/check reads.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { load as loadTool, modules, web } from '../../src/web/tools/packages.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const load = createRequire(join(root, 'build', 'npm-test', 'package.json'))
const { chromium } = load('playwright-core')

const axeFile = join(root, 'build', 'npm-test', 'node_modules', 'axe-core', 'axe.min.js')
export const url = process.env.BELFRY_URL
const token = process.env.BELFRY_TOKEN
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const PATIENCE_MS = 30_000

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 760 }

export async function call(method, path, body, server = { url, key: () => token }) {
    const answer = await fetch(`${server.url}/api/v1${path}`, {
        method, headers: { Authorization: `Bearer ${server.key()}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
    })
    if (!answer.ok)
        throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.status === 204 ? null : answer.json()
}

/** A line to the server that can be cut: everything on it ends, and nothing gets through until it is mended. */
export async function proxy() {
    const { hostname, port } = new URL(url)
    const open = new Set()
    const server = createServer(from => {
        const to = connect(Number(port), hostname)
        for (const [one, other] of [[from, to], [to, from]]) {
            open.add(one)
            one.on('error', () => {})
            one.on('close', () => { open.delete(one); other.destroy() })
            one.pipe(other)
        }
    })
    const listen = port => new Promise(resolve => server.listen(port, '127.0.0.1', resolve))
    await listen(0)
    const place = server.address().port
    return {
        url: `http://127.0.0.1:${place}`,
        cut: () => {
            server.close()
            open.forEach(socket => socket.destroy())
        },
        mend: () => listen(place),
    }
}

async function freePort() {
    const server = createServer()
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address()
    await new Promise(resolve => server.close(resolve))
    return port
}

/** A server of the test's own, which it may kill, with variables of its own. `call` is by its key. */
export async function serve(env = {}) {
    const data = mkdtempSync(join(tmpdir(), 'belfry-web-'))
    const place = `http://127.0.0.1:${await freePort()}`
    const mine = {
        url: place,
        key: (name = 'admin') => readFileSync(join(data, `${name}.key`), 'utf8').trim(),
        call: (method, path, body) => call(method, path, body, mine),
        start: async () => {
            mine.process = spawn(process.env.BELFRY ?? join(root, 'build', 'belfry'), ['server', '--data', data,
                '--listen', place.slice('http://'.length), '--no-worker'],
            { stdio: 'ignore', env: { ...process.env, ...env } })
            await until(() => fetch(`${place}/readyz`).then(answer => answer.ok, () => false), 'the server to be ready')
        },
        kill: () => new Promise(resolve => {
            mine.process.once('exit', resolve)
            mine.process.kill('SIGKILL')
        }),
        end: async () => {
            await mine.kill()
            rmSync(data, { recursive: true, force: true })
        },
    }
    await mine.start()
    return mine
}

let browser

/** A page of a browser of its own, whose calls carry the key. Errors of the page fail the test that opened it. */
export async function open(path, { viewport = DESKTOP, dark = false, keyed = true, stranger = [], base = url,
    cookies = [] } = {}) {
    browser ??= await chromium.launch({
        executablePath: process.env.CHROMIUM ?? programs.find(path => existsSync(path)),
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP plain.test 127.0.0.1'],
    })
    const context = await browser.newContext({
        viewport, colorScheme: dark ? 'dark' : 'light', baseURL: base,
        extraHTTPHeaders: keyed ? { Authorization: `Bearer ${token}` } : {},
    })
    context.setDefaultTimeout(PATIENCE_MS)
    await context.addCookies(cookies)
    const page = await context.newPage()
    page.faults = []
    page.on('pageerror', why => page.faults.push(String(why.stack ?? why)))
    page.on('console', said => {
        if (said.type() === 'error' && !stranger.some(text => said.text().includes(text)))
            page.faults.push(`${said.text()} ${said.location().url}`)
    })
    await page.goto(path)
    return page
}

export async function close(page) {
    if (!page.isClosed())
        await page.unrouteAll({ behavior: 'ignoreErrors' }) // a call may be on its way through a route
    await page.context().close()
    check(page.faults.length === 0, `the page complained: ${page.faults.join('; ')}`)
}

/** What axe finds wrong for people who see, hear or move otherwise. */
export async function violations(page) {
    await page.evaluate(readFileSync(axeFile, 'utf8')) // a script tag would be against the policy
    const { violations } = await page.evaluate(() => window.axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
    }))
    return violations.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).slice(0, 3).join(', ')}`)
}

/** A module of the dashboard, as node takes it; each `life` of it has variables of its own. */
export async function unit(path, life = '') {
    const made = await loadTool('esbuild').build({
        entryPoints: [join(web, path)], bundle: true, write: false, format: 'esm', nodePaths: modules,
    })
    return import('data:text/javascript,' + encodeURIComponent(`${made.outputFiles[0].text}//${life}`))
}

/** The title of the page, without the counts before it, which are everybody's, comes to be this. */
export async function titled(page, title) {
    let now
    await until(async () => (now = (await page.title()).replace(/^\([^)]*\) /, '')) === title, 'the title')
        .catch(() => { throw new Error(`the title is ${now}, not ${title}`) })
}

export function check(holds, what) {
    if (!holds)
        throw new Error(what)
}

export function same(have, want, what) {
    check(JSON.stringify(have) === JSON.stringify(want),
        `${what}: ${JSON.stringify(have)} where ${JSON.stringify(want)} was expected`)
}

/** The first true value, asked again and again. */
export async function until(ask, what, patienceMs = PATIENCE_MS) {
    const end = Date.now() + patienceMs
    for (;;) {
        const value = await ask()
        if (value)
            return value
        if (Date.now() > end)
            throw new Error(`waited ${patienceMs} ms for ${what}`)
        await new Promise(resolve => setTimeout(resolve, 50))
    }
}

/** Columns of the lists that are shown which are too narrow for their own names. */
export async function squeezed(page) {
    return page.locator('.table:not(.cards) th').evaluateAll(all => all.filter(th => th.clientWidth > 0 &&
        th.scrollWidth > th.clientWidth).map(th => th.textContent))
}

/** {'a sentence': async () => …}: all of them, or those that the arguments name the beginning of; then `end`. */
export async function run(tests, end = () => {}) {
    const wanted = process.argv.slice(2)
    let passed = 0
    let failed = 0
    for (const [name, test] of Object.entries(tests)) {
        if (wanted.length > 0 && !wanted.some(start => name.startsWith(start)))
            continue
        const begun = Date.now()
        try {
            await test()
            console.log(`${String(Date.now() - begun).padStart(6)} ms  ${name}`)
            passed++
        } catch (why) {
            failed++
            const where = why.stack.replace(/data:text\/javascript,[^)\s]*?(:\d+:\d+\))/g, 'bundle$1')
            console.error(`FAILED: ${name}\n${where}`)
        }
    }
    await browser?.close()
    await end()
    console.log(`${passed} passed, ${failed} failed`)
    process.exit(failed > 0 ? 1 : 0)
}
