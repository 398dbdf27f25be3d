// The store of a log and a search in it, for components: made anew for another log, drawn anew when they change.
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { LogSource } from '../../api/logs'
import { toast } from '../ask/toast'
import { hasText, LogSearch, looksWrong } from './search'
import { LogStore } from './store'

/** Changes that come in a burst are drawn once. */
function useFrames(): [number, () => void] {
    const [version, bump] = useReducer((n: number, _: void) => n + 1, 0)
    const waiting = useRef(0)
    return [version, () => {
        waiting.current ||= requestAnimationFrame(() => {
            waiting.current = 0
            bump()
        })
    }]
}

export function useLog(source: LogSource): { store: LogStore, version: number } {
    const [version, changed] = useFrames()
    const store = useMemo(() => new LogStore(source, changed), [source.key])
    useEffect(() => {
        void store.open()
        return () => store.close()
    }, [store])
    return { store, version }
}

const TYPING_MS = 250

/** What holds this text; null as long as nothing is asked for. */
export function useSearch(source: LogSource, total: number, text: string): LogSearch | null {
    const [, changed] = useFrames()
    const [search, setSearch] = useState<LogSearch | null>(null)
    useEffect(() => {
        if (text === '') {
            setSearch(null)
            return undefined
        }
        const made = new LogSearch(source, hasText(text), changed)
        const timer = setTimeout(() => setSearch(made), TYPING_MS)
        return () => {
            clearTimeout(timer)
            made.close()
        }
    }, [source.key, text])
    useEffect(() => void search?.run(), [search, total])
    return search
}

/** Whether the first line that looks like an error is being looked for, and what begins to. */
export function useFirstError(source: LogSource, show: (row: number) => void): [boolean, () => void] {
    const [looking, setLooking] = useState(false)
    const newest = useRef<LogSearch | null>(null)
    useEffect(() => () => newest.current?.close(), [source.key])
    const look = async () => {
        newest.current?.close()
        const search = newest.current = new LogSearch(source, looksWrong, () => {}, 1)
        setLooking(true)
        await search.run()
        if (newest.current !== search)
            return
        setLooking(false)
        if (search.closed)
            return
        if (search.found.length > 0)
            show(search.found[0])
        else
            toast(search.problem ? String(search.problem) : 'No line looks like an error.')
    }
    return [looking, () => void look()]
}
