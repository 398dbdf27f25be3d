// Work that many parts of a page ask for at once: a few at a time, and what was asked for last before the others. Work
// that is asked for again while it waits, since a server is slow, waits once.

export interface Few {
    /** It does not throw. */
    ask: (work: () => Promise<void>) => void
    /** Nobody waits for it any more. */
    drop: (work: () => Promise<void>) => void
}

export function few(atOnce: number): Few {
    const line = new Set<() => Promise<void>>()
    let busy = 0
    const next = () => {
        const work = [...line].pop()
        if (work)
            line.delete(work)
        return work
    }
    const pump = async () => {
        if (busy >= atOnce)
            return
        busy++
        for (let work = next(); work; work = next())
            await work()
        busy--
    }
    return {
        ask: work => {
            line.delete(work)
            line.add(work)
            void pump()
        },
        drop: work => line.delete(work),
    }
}
