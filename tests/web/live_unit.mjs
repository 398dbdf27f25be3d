// The stream of changes without a browser: what is asked of the server, what is missed, and who reads anew.
import { check, run, same, unit, until } from './rig.mjs'

/** Streams that were asked for, the newest last: each may be answered, fed, ended. */
const asked = []
const page = new EventTarget()
globalThis.addEventListener = page.addEventListener.bind(page)
globalThis.removeEventListener = page.removeEventListener.bind(page)
globalThis.document = { visibilityState: 'visible' }
globalThis.fetch = (address, { signal }) => new Promise((resolve, reject) => {
    const one = { address, aborted: false }
    signal.addEventListener('abort', () => {
        one.aborted = true
        reject(signal.reason)
        one.feed?.error(signal.reason)
    })
    one.open = () => resolve(new Response(new ReadableStream({ start: feed => { one.feed = feed } })))
    one.refuse = status => resolve(new Response(JSON.stringify({ code: 'invalid', detail: 'no' }), { status }))
    one.say = (event, data) => one.feed.enqueue(
        new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
    asked.push(one)
})

/** What a test has begun ends with it: its streams are nobody's in the next one. */
const timers = []
for (const name of ['setInterval', 'setTimeout']) {
    const begin = globalThis[name]
    globalThis[name] = (...all) => {
        const timer = begin(...all)
        timers.push(timer)
        return timer
    }
}
function end() {
    timers.splice(0).forEach(clearTimeout)
    asked.length = 0
}

const last = () => asked[asked.length - 1]
const tick = { time: new Date().toISOString() }
const next = count => until(() => asked.length === count && last(), `stream ${count}`)

/** A tab, which is the only one unless it is told of others. */
async function tab(life, others) {
    end()
    const locks = others && { request: () => new Promise(() => {}) }
    Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
    if (others)
        globalThis.BroadcastChannel = others
    else
        delete globalThis.BroadcastChannel
    const live = await unit('live/live.ts', life)
    const told = { resets: 0 }
    live.onReset(() => told.resets++)
    live.startLive()
    return { live, told }
}

/** Time as a test says it is, for what is made by `make` and is looked at every so often. */
function clockwork(make) {
    const { now } = Date
    const { setInterval: every } = globalThis
    let offset = 0
    let look = () => {}
    Date.now = () => now() + offset
    globalThis.setInterval = work => { look = work }
    const made = make()
    globalThis.setInterval = every
    return { made, pass: ms => { offset += ms }, look: () => look(), restore: () => { Date.now = now } }
}

await run({
    'other wishes miss nothing: only what is new is read anew': async () => {
        const { live, told } = await tab('wishes')
        const heard = { a: 0, b: 0 }
        live.watch({ job: ['job_a'] }, () => heard.a++)
        const first = await next(1)
        first.open()
        await next(2)
        last().open()
        await until(() => heard.a === 1, 'the job that was read before the stream told of it')
        check(first.aborted, 'the stream without it goes on')

        live.watch({ job: ['job_b'] }, () => heard.b++)
        const third = await next(3)
        check(/job=job_a.*job=job_b/.test(third.address), third.address)
        check(!asked[1].aborted, 'the stream before ended too early')
        asked[1].say('execution', { job_id: 'job_a' })
        await until(() => heard.a === 2, 'an event meanwhile')
        third.open()
        await until(() => heard.b === 1, 'the new wish')
        await until(() => asked[1].aborted, 'the end of the stream before')
        same([heard.a, told.resets], [2, 0], 'what was told of all the time is read anew')
    },
    'a stream that comes back has everything read anew': async () => {
        const { told } = await tab('back')
        await next(1)
        last().open()
        last().say('tick', tick)
        last().feed.close()
        await next(2)
        last().open()
        await until(() => told.resets === 1, 'everything to be read anew')
    },
    'what could not be read since the server was away is read when it is there': async () => {
        const { told } = await tab('first')
        await next(1)
        last().refuse(503)
        await next(2)
        last().open()
        await until(() => told.resets === 1, 'everything to be read')
    },
    'a tab that came when the stream was there reads anew when it comes back': async () => {
        let channel
        const { told } = await tab('later', class {
            constructor() { channel = this }
            postMessage() {}
        })
        same(asked.length, 0, 'streams of a tab that does not lead')
        channel.onmessage({ data: { kind: 'event', event: { event: 'tick', data: tick } } })
        channel.onmessage({ data: { kind: 'away', why: 'it ended' } })
        channel.onmessage({ data: { kind: 'open', filters: {}, goesOn: false } })
        same(told.resets, 1, 'read anew')
    },
    'a name that is refused does not take the numbers away': async () => {
        const { live } = await tab('refused')
        let polled = 0
        live.watch({ queue: ['no such name!'] }, () => polled++)
        await next(1)
        last().open()
        await next(2)
        check(/queue=/.test(last().address), last().address)
        last().refuse(400)
        await next(3)
        check(!/queue=/.test(last().address), last().address)
        last().open()
        last().say('tick', tick)
        await until(() => live.liveState.value === 'live', 'numbers')
        await until(() => polled > 0, 'what is not told of to be read again')
    },
    'tabs without locks agree on one that reads, whoever comes and goes': async () => {
        end()
        const tabs = new Set()
        globalThis.BroadcastChannel = class {
            constructor() { tabs.add(this) }
            postMessage(data) {
                for (const one of tabs)
                    one !== this && queueMicrotask(() => tabs.has(one) && one.onmessage({ data }))
            }
        }
        delete globalThis.navigator
        const { lead } = await unit('live/lead.ts')
        const add = globalThis.addEventListener
        const made = []
        const come = () => {
            const one = { leads: false, hide: () => {} }
            const before = new Set(tabs)
            globalThis.addEventListener = (name, hear) => { one[name] = hear }
            one.take = lead(() => { one.leads = true }, () => { one.leads = false })
            one.channel = [...tabs].find(channel => !before.has(channel))
            made.push(one)
            return one
        }
        const go = one => {
            made.splice(made.indexOf(one), 1)
            tabs.delete(one.channel)
        }
        const leaders = () => made.filter(one => one.leads)
        const oneLeads = async what => {
            const one = await until(() => leaders().length === 1 && leaders()[0], what)
            await new Promise(resolve => setTimeout(resolve)) // what was said has been heard
            same(leaders().length, 1, `leaders behind ${what}`)
            return one
        }
        try {
            for (let i = 0; i < 5; i++)
                come() // at once, as when a browser is begun again
            const first = await oneLeads('one of five')
            come()
            await oneLeads('the same one')
            check(first.leads, 'a tab that came took its place')
            first.pagehide()
            await oneLeads('another one, while the first is about to go')
            check(!first.leads, 'who has gone leads')
            go(first)
            const second = leaders()[0]
            go(second) // without a word
            made.forEach(one => one.take()) // all of them doubt it at the same time
            await oneLeads('one of those who took over')
        } finally {
            globalThis.addEventListener = add
            delete globalThis.BroadcastChannel
        }
    },
    'a reader that says nothing is replaced, however much the others say': async () => {
        let channel
        let asked = 0
        end()
        globalThis.BroadcastChannel = class {
            constructor() { channel = this }
            postMessage() {}
        }
        const request = (_, { steal }) => {
            asked += steal === true
            return new Promise(() => {})
        }
        Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { locks: { request } } })
        const looks = []
        const { setInterval: every } = globalThis
        const { now } = Date
        let offset = 0
        Date.now = () => now() + offset
        globalThis.setInterval = work => looks.push(work)
        try {
            const { Share } = await unit('live/share.ts')
            new Share({ onEvent: () => {}, onOpen: () => {}, onAway: () => {} })
            for (let second = 0; second < 60; second += 5) {
                offset += 5000
                channel.onmessage({ data: { kind: 'wants', tab: 'another', filters: {} } })
                looks.forEach(look => look())
            }
            check(asked > 0, 'nobody takes over')
        } finally {
            Date.now = now
            globalThis.setInterval = every
        }
    },
    'late timers do not end a stream that goes on, and a sleep does': async () => {
        const { Stream } = await unit('live/stream.ts')
        end()
        let heard = 0
        const ears = { onEvent: () => heard++, onOpen: () => {}, onAway: () => {} }
        const { made, pass, look, restore } = clockwork(() => new Stream({}, ears))
        try {
            await next(1)
            last().open()
                for (let minute = 1; minute <= 3; minute++) { // of a tab that nobody sees
                pass(59_000)
                last().say('tick', tick)
                await until(() => heard === minute, 'a tick')
                pass(1000)
                look()
            }
            same(asked.length, 1, 'streams')
            pass(60_000) // and nothing was heard
            look()
            same(asked.length, 2, 'streams behind a sleep')
        } finally {
            made.close()
            restore()
        }
    },
})
