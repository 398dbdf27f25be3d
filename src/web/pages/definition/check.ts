// The server's opinion of a document while it is being written: asked by a dry run when typing pauses.
import { useEffect, useState } from 'preact/hooks'
import { Problem, problemOf } from '../../api/problem'

export interface Checked<T> {
    /** Of this very document; null while it is being asked. */
    answer: T | null
    problem: Problem | null
    checking: boolean
}

const PAUSE_MS = 350

/** `key` says what is asked for; another one is asked anew. Null asks nothing. */
export function useCheck<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Checked<T> {
    const [told, tell] = useState<{ key: string, answer: T | null, problem: Problem | null } | null>(null)
    useEffect(() => {
        if (key === null)
            return undefined
        const abort = new AbortController()
        const timer = setTimeout(() => {
            ask(abort.signal).then(answer => tell({ key, answer, problem: null }), why => {
                if (!abort.signal.aborted)
                    tell({ key, answer: null, problem: problemOf(why) })
            })
        }, PAUSE_MS)
        return () => {
            clearTimeout(timer)
            abort.abort()
        }
    }, [key])
    const isThis = told !== null && told.key === key
    // The problem before stays until there is another word, so that it does not flicker with each letter.
    return { answer: isThis ? told.answer : null, problem: key === null ? null : told?.problem ?? null,
        checking: key !== null && !isThis }
}
