// Which of a browser's tabs reads the stream: the one that holds a lock; when it is closed, the next in line has it.
// Plain HTTP to another machine has no locks, and six connections for all tabs: there the tabs agree by talking.

/** Another number when what tabs tell each other changes: tabs of the version before may be open. */
export const CHANNEL = 'belfry-live-2'
const RIVAL_MS = 5000
const ANSWER_MS = { least: 300, most: 600 } // so long a tab waits for one that reads already

/** `begin` is called when it is this tab's turn to read, `end` when it is another one's. What is returned takes the
 *  place of a tab that gives no sign of life. */
export function lead(begin: () => void, end: () => void): () => void {
    const locks = globalThis.navigator?.locks
    if (locks)
        return byLock(locks, begin, end)
    if ('BroadcastChannel' in globalThis)
        return byTalk(begin, end)
    begin()
    return () => {}
}

function byLock(locks: LockManager, begin: () => void, end: () => void): () => void {
    const queue = (steal: boolean): void => {
        void locks.request(CHANNEL, steal ? { steal } : {}, () => {
            begin()
            return new Promise(() => {}) // held until the tab is closed, or another one steals it
        }).catch(() => {
            end()
            queue(false)
        })
    }
    queue(false)
    return () => queue(true)
}

interface Word {
    /** who: does anybody read? here: this tab does. mine: this one does instead. gone: it was closed. */
    kind: 'who' | 'here' | 'mine' | 'gone'
    tab: string
}

function byTalk(begin: () => void, end: () => void): () => void {
    const channel = new BroadcastChannel(`${CHANNEL}-lead`)
    const tab = Math.random().toString(36).slice(2)
    const say = (kind: Word['kind']) => channel.postMessage({ kind, tab })
    let leads = false
    let tookAt = -Infinity // the place of a silent one
    let timer: ReturnType<typeof setTimeout> | undefined
    const take = (kind: 'here' | 'mine') => {
        clearTimeout(timer)
        if (!leads) {
            leads = true
            begin()
        }
        say(kind)
    }
    const ask = () => {
        say('who')
        clearTimeout(timer)
        const wait = ANSWER_MS.least + Math.random() * (ANSWER_MS.most - ANSWER_MS.least)
        timer = setTimeout(() => take('here'), wait)
    }
    const leave = () => {
        clearTimeout(timer)
        if (leads) {
            leads = false
            end()
        }
    }
    /** Of two that lead, by chance or since both took the place of a third one, one stays. */
    const isRival = ({ kind, tab: other }: Word) => leads && other > tab &&
        (kind === 'here' || (kind === 'mine' && Date.now() - tookAt < RIVAL_MS))
    channel.onmessage = ({ data }: MessageEvent<Word>) => {
        if (data.kind === 'who' ? leads : isRival(data))
            say('here')
        else if (data.kind === 'gone')
            ask()
        else if (data.kind !== 'who')
            leave()
    }
    addEventListener('pagehide', () => {
        if (leads) {
            leave() // at once: it is not to answer those who ask now
            say('gone')
        }
    })
    addEventListener('pageshow', event => event.persisted && ask())
    ask()
    return () => {
        tookAt = Date.now()
        take('mine')
    }
}
