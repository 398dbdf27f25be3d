// Whether somebody looks at this tab.

export const isSeen = () => document.visibilityState === 'visible'

/** Once somebody does, or the signal says that it does not matter any more. */
export function whenSeen(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
        const look = () => {
            if (!isSeen() && !signal.aborted)
                return
            document.removeEventListener('visibilitychange', look)
            signal.removeEventListener('abort', look)
            resolve()
        }
        document.addEventListener('visibilitychange', look)
        signal.addEventListener('abort', look)
        look()
    })
}

/** Work that ends when nobody has looked for so long, or by the signal. */
export async function whileSeen(work: (signal: AbortSignal) => Promise<void>, ms: number, signal: AbortSignal) {
    const abort = new AbortController()
    const stop = () => abort.abort(signal.reason)
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
        clearTimeout(timer)
        if (!isSeen())
            timer = setTimeout(stop, ms)
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', stop)
    look()
    try {
        await work(abort.signal)
    } catch (why) {
        if (!abort.signal.aborted)
            throw why
    } finally {
        clearTimeout(timer)
        document.removeEventListener('visibilitychange', look)
        signal.removeEventListener('abort', stop)
    }
}
