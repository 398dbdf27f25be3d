// A log of any length: drawn as far as it is seen, followed while it grows, searched as a whole. What is looked at
// stands in the address: ?find=, ?stream=, and #L12 or #L12-L20 for lines.
//
// Keys: / find, n N next and previous, e first error, f follow, w wrap, t times, g G beginning and end.
import './log.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { LogSource } from '../../api/logs'
import { count } from '../../base/format'
import { recall, remember } from '../../base/keep'
import { address, go, query, setQuery } from '../../base/router'
import { pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { Bar } from './bar'
import { Rows } from './rows'
import { useScroller } from './scroller'
import { useFirstError, useLog, useSearch } from './use'

function chosenLines(hash: string): [number, number] | null {
    const found = /^#L(\d+)(?:-L(\d+))?$/.exec(hash)
    const from = Number(found?.[1])
    return found ? [from, Math.max(from, Number(found[2] ?? from))] : null
}

const hrefOf = (number: number) => `${address.value.path}${address.value.search}#L${number}`

function useKept(name: string, otherwise: boolean): [boolean, (on: boolean) => void] {
    const [on, set] = useState(() => recall(name, otherwise))
    return [on, value => { remember(name, value); set(value) }]
}

interface LogProps {
    source: LogSource
    /** Said when nothing was printed. */
    empty: string
    /** Beside the choice of a stream: a <select class="log-choice">, say. */
    choice?: ComponentChildren
}

export function Log({ source, empty, choice }: LogProps) {
    const { store, version } = useLog(source)
    const [wrap, setWrap] = useKept('log.wrap', false)
    const [times, setTimes] = useKept('log.times', false)
    const [find, setFind] = useState(query.value.get('find') ?? '')
    const [following, setFollowing] = useState(true)
    const [current, setCurrent] = useState<number | null>(null)
    const { total, opened, complete } = store // as they are drawn: effects may run when there is more already
    const search = useSearch(source, total, find)
    const box = useRef<HTMLDivElement>(null)
    const findBox = useRef<HTMLInputElement>(null)
    const chosen = chosenLines(address.value.hash)
    const live = opened === 'yes' && !complete
    const scroller = useScroller(box, total, (atEnd, up) => {
        if (up || atEnd)
            setFollowing(atEnd && !up)
    })
    const show = (row: number) => {
        setFollowing(false)
        setCurrent(row)
        scroller.show(row)
    }

    useEffect(() => {
        const timer = setTimeout(() => find === (query.value.get('find') ?? '') ||
            setQuery({ find }, { replace: true }), 400)
        return () => clearTimeout(timer)
    }, [find])
    useEffect(() => {
        if (live && following && !chosen)
            scroller.toEnd()
    }, [version, live, following])
    // The lines of the address, once they have come: what was printed last may be under way still.
    const placed = useRef('')
    useEffect(() => {
        const row = chosen && opened ? store.find(chosen[0]) : null
        if (row !== null && (row < total || !live) && placed.current !== source.key + address.value.hash) {
            placed.current = source.key + address.value.hash
            setFollowing(false)
            scroller.show(row)
        }
    }, [version, address.value.hash])
    // The first that is found, unless one has gone somewhere already.
    const first = search?.found[0]
    useEffect(() => {
        if (search && first !== undefined)
            show(search.found[search.next(scroller.view.from)])
        else
            setCurrent(null)
    }, [search, first === undefined])

    const step = (back: boolean) => {
        if (search && search.found.length > 0)
            show(search.found[search.next(back ? current ?? 0 : (current ?? -1) + 1, back)])
    }
    const [looking, toError] = useFirstError(source, show)
    const choose = (number: number, further: boolean) => {
        const from = further && chosen ? Math.min(chosen[0], number) : number
        const to = further && chosen ? Math.max(chosen[1], number) : number
        placed.current = `${source.key}#L${from}${to > from ? `-L${to}` : ''}`
        go(`${hrefOf(from)}${to > from ? `-L${to}` : ''}`, { replace: true })
    }
    const keys: Record<string, () => void> = {
        '/': () => findBox.current?.focus(), n: () => step(false), N: () => step(true), e: toError,
        f: () => setFollowing(!following), w: () => setWrap(!wrap), t: () => setTimes(!times),
        g: () => { setFollowing(false); scroller.show(0) }, G: () => scroller.toEnd(),
    }
    const onKeyDown = (event: KeyboardEvent) => {
        const typing = (event.target as Element).matches('input, select')
        if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key]) {
            event.preventDefault()
            keys[event.key]()
        }
    }
    const zone = pickZone(zoneChoice.value)
    const look = useMemo(() => ({ find: search ? find : '', times: times ? zone : null, wrap, current, chosen }),
        [search, find, times, zone, wrap, current, address.value.hash])
    const at = search && current !== null ? Math.max(0, search.found.indexOf(current)) : 0
    const isEmpty = opened !== null && total === 0
    return (
        <section class="log" onKeyDown={onKeyDown} aria-label="Log" data-own-keys>
            <Bar {...{ source, choice, search, at, find, setFind, findBox, step, live, following, setFollowing }}
                {...{ wrap, setWrap, times, setTimes }} total={total} toError={toError} looking={looking}
                stream={query.value.get('stream') ?? ''} setStream={stream => setQuery({ stream })} />
            {store.problem !== null && <p class="old-data" role="status">
                {store.problem instanceof Error ? store.problem.message : String(store.problem)}</p>}
            {isEmpty && <p class="log-empty soft">{opened === 'deleted'
                ? 'This output was deleted: it is kept for a while only (setting logs_keep_ms).' : empty}</p>}
            <Rows {...{ box, store, version, scroller, look, hrefOf, choose }} />
            <p class="log-foot small soft">{count(total, 'line')}
                <span role="status">{live && (following ? ', following' : ', growing')}</span></p>
        </section>
    )
}
