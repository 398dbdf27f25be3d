// The pages of executions in a browser: what they say, what they do, and the viewer of their output.
import { call, check, close, open, PHONE, run, same, until, violations } from './rig.mjs'

const ONCE = { max_retries: 0 }
const OVER = ['completed', 'failed', 'timeout', 'cancelled']
const AWAY = ['Failed to load resource']

/** Submits a job, and answers the id of its execution. */
async function start(name, command, more = {}) {
    const { job_id } = await call('POST', '/jobs', { name, command, retry: ONCE, queue: 'pages', ...more })
    return until(async () => (await call('GET', `/jobs/${job_id}/executions`)).executions[0]?.execution_id,
        `an execution of ${name}`)
}

async function ended(id) {
    return until(async () => {
        const one = await call('GET', `/executions/${id}`)
        return OVER.includes(one.status) && one
    }, `the end of ${id}`)
}

const python = text => ['python3', '-c', text]
const foot = page => page.locator('.log-foot')
const row = (page, text) => page.locator('.log-row', { hasText: text })

/** 16 MiB are kept of an attempt; this is nearly so much. */
const LINES = 250_000
let long

await run({
    'a failure is told with its trace, its kind and its attempts': async () => {
        const broken = python('import sys\nprint(7, file=sys.stderr)\nraise ValueError("customer 42 has no home")')
        const other = await start('import-other', broken)
        await ended(other)
        const id = await start('import-customers', broken, { retry: { max_retries: 1, delay: '50ms', jitter: 0 } })
        await ended(id)
        const page = await open(`/executions/${id}`)
        await page.getByText('It failed for good after 2 attempts: exit code 1').waitFor()
        await until(async () => (await page.title()).endsWith('import-customers, failed · belfry'), 'the title')
        await page.getByLabel('stack trace', { exact: true }).getByText('ValueError: customer 42').waitFor()
        await page.getByRole('link', { name: 'import-other' }).waitFor()
        await page.getByText('the attempt failed; it is tried again').waitFor()
        await page.getByText('waited for its next attempt').first().waitFor()
        await page.getByRole('link', { name: /^Attempts/ }).click()
        await page.getByText('All of them failed in the same way.').waitFor()
        same(await page.locator('.attempts thead th').count(), 3, 'columns')
        same(new URL(page.url()).pathname, `/executions/${id}/attempts`, 'the address of the tab')
        await page.goto('/executions?status=failed&name=import-')
        await page.locator('tr[data-at="1"]').getByText('exit code 1: ValueError: customer # has no home').waitFor()
        await close(page)
    },
    'what waits says for what, in its row and on its page': async () => {
        await call('POST', '/queues/shut/pause')
        const id = await start('held-back', ['true'], { queue: 'shut' })
        const unanswered = await open('about:blank')
        await unanswered.route('**/explain', () => {})
        await unanswered.goto('/executions?queue=shut')
        await unanswered.locator('tr[data-at="0"]').waitFor()
        same(await violations(unanswered), [], 'while the reason is not known')
        await close(unanswered)
        const page = await open('/executions?queue=shut')
        await page.getByText('queue shut is paused').click()
        await page.getByText(/^It waits\. The queue 'shut' was paused/).waitFor()
        const { job_id } = await call('GET', `/executions/${id}`)
        const next = await start('next-one', ['true'], { queue: 'next', depends_on: [{ job: job_id }] })
        const waiting = await open('/executions?queue=next')
        await waiting.locator('tr[data-at="0"]').getByText('another job').waitFor()
        await waiting.goto(`/executions/${next}`)
        await waiting.getByLabel('What it waits for').getByRole('link', { name: 'held-back' }).waitFor()
        await close(waiting)
        await page.getByLabel('What it waits for').getByText('belfry queues resume shut').waitFor()
        await page.getByRole('button', { name: 'Cancel …' }).click()
        await page.getByRole('button', { name: 'Leave it' }).click()
        await page.getByRole('button', { name: 'Cancel …' }).click()
        await page.getByRole('button', { name: 'Cancel 1 execution' }).click()
        await page.getByText('It was cancelled').waitFor()
        same((await call('GET', `/executions/${id}`)).status, 'cancelled', 'its status')
        await close(page)
    },
    'what is over runs again, with another payload if one likes': async () => {
        const id = await start('answers', 'cp "$BELFRY_PAYLOAD_FILE" "$BELFRY_RESULT_FILE"', { payload: { month: 11 } })
        await ended(id)
        const page = await open(`/executions/${id}/data`)
        await page.locator('.tree', { hasText: 'month' }).nth(1).waitFor() // the payload, and the result
        await page.getByRole('button', { name: 'Retry …' }).click()
        await page.getByRole('button', { name: 'Run 1 execution again' }).click()
        await until(() => !page.url().includes(id) && /\/executions\/exec_/.test(page.url()), 'the new one')
        await page.getByText('It succeeded in').waitFor()
        await page.getByRole('button', { name: 'More' }).click()
        await page.getByRole('menuitem', { name: 'Retry with another payload …' }).click()
        await page.getByLabel('Payload', { exact: true }).fill('{"month": ')
        check(await page.getByRole('button', { name: 'Run it again' }).isDisabled(), 'half an object is taken')
        await page.getByLabel('Payload', { exact: true }).fill('{"month": 12}')
        await page.getByRole('button', { name: 'Run it again' }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page.getByText('It succeeded in').waitFor()
        const again = new URL(page.url()).pathname.split('/')[2]
        same((await ended(again)).result, { month: 12 }, 'its result')
        await close(page)
    },
    'all that match are run again, or cancelled': async () => {
        const jobs = Array.from({ length: 130 }, (_, i) => ({
            name: `fails-${i}`, command: ['false'], retry: ONCE, queue: 'fails',
        }))
        await call('POST', '/jobs/batch', { jobs })
        const failed = async () =>
            (await call('GET', '/executions?queue=fails&status=failed&limit=300')).executions.length
        await until(async () => await failed() === 130, '130 failures')
        const page = await open('/executions?queue=fails&status=failed')
        await page.locator('tr[data-at="0"] input').check()
        await page.getByRole('button', { name: 'Pick all that match' }).click()
        check(await page.getByRole('button', { name: 'Cancel …' }).isDisabled(), 'what is over is cancelled')
        await page.getByRole('button', { name: 'Retry …' }).click()
        await page.getByRole('button', { name: 'Retry 130 executions' }).click()
        await page.getByText('130 of 130 run again').waitFor()
        await until(async () => await failed() === 260, 'all to fail again')
        await close(page)

        await call('POST', '/queues/piled/pause')
        const piled = jobs.map((job, i) => ({ ...job, name: `piles-${i}`, queue: 'piled' }))
        await call('POST', '/jobs/batch', { jobs: piled })
        const other = await open('/executions?queue=piled&created_after=1h')
        await other.getByLabel('Pick all that are shown').check()
        await other.getByRole('button', { name: 'Pick all that match' }).click()
        await other.getByRole('button', { name: 'Cancel …' }).click()
        await other.getByRole('button', { name: 'Cancel 130 executions' }).click()
        await other.getByText('130 of 130 cancelled').waitFor()
        await close(other)
    },
    'a log of 16 MB is drawn as far as it is seen, and found in as a whole': async () => {
        // The worker has read all of stdout when stderr comes: what it reads of both at once may cut a line in two.
        long = await start('long-log', python(`import fcntl, struct, sys, termios
for i in range(${LINES}):
    if i == 123455:
        sys.stdout.flush()
        while struct.unpack("i", fcntl.ioctl(1, termios.FIONREAD, bytes(4)))[0] > 0: pass
        print("ERROR: the disk is gone", file=sys.stderr, flush=True)
    print("line", i, "of a long log, and some words")`))
        await ended(long)
        const page = await open(`/executions/${long}/output#L200000-L200002`)
        await row(page, /^200000line 199998 /).waitFor()
        same(await page.locator('.log-row.is-chosen').count(), 3, 'lines that the address names')
        check(await page.locator('.log-row').count() < 120, 'all lines are drawn')
        same((await foot(page).textContent()).trim(), '250,001 lines', 'how many')
        await page.getByRole('button', { name: 'First error' }).click()
        await page.locator('.log-row.is-current.is-stderr', { hasText: 'ERROR: the disk is gone' }).waitFor()
        await page.getByLabel('Find in the output').fill('line 249')
        await page.getByText('1 of 1,111').waitFor() // 249, 249?, 249?? and 249???
        check(new URL(page.url()).searchParams.get('find') === 'line 249' || await until(() =>
            page.url().includes('find='), 'the address'), 'find is in the address')
        await page.locator('.log-rows').focus()
        await page.keyboard.press('N')
        await page.getByText('1,111 of 1,111').waitFor()
        await row(page, 'line 249999 ').waitFor()
        await page.keyboard.press('n')
        await page.getByText('1 of 1,111').waitFor()
        await page.getByLabel('Stream').selectOption('stderr')
        await until(async () => await page.locator('.log-row').count() === 1, 'one line of stderr')
        await close(page)
    },
    'lines wrap, have times, numbers that are links, and are downloaded': async () => {
        const page = await open(`/executions/${long}/output`)
        await row(page, /^1line 0 /).waitFor()
        await page.locator('.log-rows').focus()
        await page.keyboard.press('w')
        await page.keyboard.press('t')
        await page.locator('.log-time').first().waitFor()
        await page.keyboard.press('Shift+G')
        await row(page, 'line 249999 ').waitFor()
        await page.keyboard.press('g')
        await page.getByRole('link', { name: '5', exact: true }).click()
        await until(() => page.url().endsWith('#L5'), 'the address of a line')
        await page.getByRole('link', { name: '8', exact: true }).click({ modifiers: ['Shift'] })
        await until(() => page.url().endsWith('#L5-L8'), 'the address of four')
        const [file] = await Promise.all([page.waitForEvent('download'),
            page.getByRole('link', { name: 'Download' }).click()])
        same(file.suggestedFilename(), `${long}-1.log`, 'the name of the file')
        await file.cancel()
        await close(page)
    },
    'output is followed until one scrolls up': async () => {
        const id = await start('talks', 'i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo "tick $i"; sleep 0.05; done')
        const page = await open(`/executions/${id}/output`)
        const last = async () => Number(/tick (\d+)/.exec(await page.locator('.log-row').last().textContent())?.[1])
        const later = await open(`/executions/${id}/output#L150`) // which was not printed yet
        await until(async () => await last() > 40, 'more than a screen of lines')
        const seen = await last()
        await until(async () => await last() > seen, 'the end to be shown')
        check((await foot(page).textContent()).includes('following'), 'it follows')
        const ahead = await open(`/executions/${id}/output#L${await last() + 60}`)
        await ahead.locator('.log-row.is-chosen').waitFor() // as soon as it is there
        await close(ahead)
        await page.locator('.log-rows').hover()
        await page.mouse.wheel(0, -300)
        await until(async () => (await foot(page).textContent()).includes('growing'), 'following to stop')
        await page.getByRole('button', { name: 'Follow' }).click()
        await until(async () => (await foot(page).textContent()).includes('following'), 'following to go on')
        await later.locator('.log-row.is-chosen', { hasText: 'tick 150' }).waitFor()
        await close(later)
        await page.getByRole('button', { name: 'Cancel …' }).click()
        await page.getByRole('button', { name: 'Cancel 1 execution' }).click()
        await page.getByText('It was cancelled').waitFor()
        await close(page)
    },
    'what a command prints is text, in the colours that it asks for': async () => {
        const id = await start('colours', python('print("\\x1b[31mred\\x1b[0m <img src=x onerror=alert(1)> 10%\\r")'))
        await ended(id)
        const page = await open(`/executions/${id}/output`)
        await page.locator('.fg-red', { hasText: 'red' }).waitFor()
        await row(page, '<img src=x onerror=alert(1)>').waitFor()
        await close(page)
    },
    'pages of executions are accessible, light, dark and on a phone': async () => {
        const { executions: [{ execution_id: failed }] } = await call('GET', '/executions?name=import-customers')
        const { executions: [{ execution_id: colours }] } = await call('GET', '/executions?name=colours')
        const [light, dark, phone] = [{}, { dark: true }, { viewport: PHONE }]
        const pages = [['/executions', light, phone], [`/executions/${failed}`, light, dark, phone],
            [`/executions/${failed}/attempts`, phone], [`/executions/${colours}/output`, light, dark, phone],
            [`/executions/${failed}/data`, dark]]
        for (const [path, ...looks] of pages) {
            for (const look of looks) {
                const page = await open(path, look)
                await page.locator('.live-live').waitFor()
                await page.locator(path.endsWith('output') ? '.log-row' : '#main h1').first().waitFor()
                same(await violations(page), [], `${path} ${JSON.stringify(look)}`)
                const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
                check(!wide, `${path} is wider than a ${JSON.stringify(look)} screen`)
                await close(page)
            }
        }
    },
    'an execution that nobody has is told': async () => {
        const page = await open('/executions/exec_0000000000000', { stranger: AWAY })
        await page.getByText('there is no execution exec_0000000000000').waitFor()
        await page.getByRole('link', { name: 'All executions' }).waitFor()
        await close(page)
    },
})
