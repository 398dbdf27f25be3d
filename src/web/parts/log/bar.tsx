// The bar above a log, with its actions.
import type { ComponentChildren, RefObject } from 'preact'
import type { LogSource } from '../../api/logs'
import { number } from '../../base/format'
import { FOUND_MAX, LogSearch } from './search'

interface BarProps {
    source: LogSource
    /** Which log, where there are several. */
    choice?: ComponentChildren
    total: number
    search: LogSearch | null
    /** Which of those that were found. */
    at: number
    find: string
    setFind: (text: string) => void
    findBox: RefObject<HTMLInputElement>
    step: (back: boolean) => void
    toError: () => void
    looking: boolean
    stream: string
    setStream: (stream: string) => void
    live: boolean
    following: boolean
    setFollowing: (on: boolean) => void
    wrap: boolean
    setWrap: (on: boolean) => void
    times: boolean
    setTimes: (on: boolean) => void
}

function found(search: LogSearch, at: number, total: number): string {
    const many = `${number(search.found.length)}${search.full && search.found.length >= FOUND_MAX ? '+' : ''}`
    if (search.looked < total && !search.full && !search.isThrough)
        return `${many}, ${Math.floor(search.looked / Math.max(total, 1) * 100)} % read`
    return search.found.length === 0 ? 'nowhere' : `${number(at + 1)} of ${many}`
}

function Switch({ name, on, set, keys }: { name: string, on: boolean, set: (on: boolean) => void, keys: string }) {
    return <button type="button" class="button log-switch" aria-pressed={on} title={`Key ${keys}`}
        onClick={() => set(!on)}>{name}</button>
}

export function Bar(props: BarProps) {
    const { search, find, step } = props
    return (
        <div class="log-bar row" role="toolbar" aria-label="Output">
            {props.choice}
            <span class="log-find">
                <input ref={props.findBox} type="search" aria-label="Find in the output" placeholder="Find   /"
                    value={find} spellcheck={false} onInput={event => props.setFind(event.currentTarget.value)}
                    onKeyDown={event => {
                        if (event.key === 'Enter')
                            step(event.shiftKey)
                    }} />
                {search && <>
                    <span class="small soft number" role="status">{found(search, props.at, props.total)}</span>
                    <button type="button" class="button plain" title="Key N" aria-label="Previous"
                        onClick={() => step(true)}>↑</button>
                    <button type="button" class="button plain" title="Key n" aria-label="Next"
                        onClick={() => step(false)}>↓</button>
                </>}
            </span>
            <button type="button" class="button" title="Key e" aria-busy={props.looking} onClick={props.toError}>
                {props.looking ? 'Looking …' : 'First error'}</button>
            <select class="log-choice" aria-label="Stream" value={props.stream}
                onChange={event => props.setStream(event.currentTarget.value)}>
                <option value="">all output</option>
                <option value="stdout">stdout</option>
                <option value="stderr">stderr</option>
            </select>
            {props.live && <Switch name="Follow" on={props.following} set={props.setFollowing} keys="f" />}
            <Switch name="Wrap" on={props.wrap} set={props.setWrap} keys="w" />
            <Switch name="Times" on={props.times} set={props.setTimes} keys="t" />
            <a class="button" href={props.source.download} download={props.source.fileName}>Download</a>
        </div>
    )
}
