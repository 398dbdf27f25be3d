// Rows that were picked: by hand, or all that match. Another list begins anew.
import { useEffect, useState } from 'preact/hooks'

export function usePicks(key: string) {
    const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
    const [all, setAll] = useState(false)
    const clear = () => {
        setIds(new Set())
        setAll(false)
    }
    useEffect(clear, [key])
    return {
        ids, all, setAll, clear,
        toggle: (which: string[], on: boolean) => {
            const next = new Set(ids)
            which.forEach(id => on ? next.add(id) : next.delete(id))
            setIds(next)
            setAll(false)
        },
    }
}
