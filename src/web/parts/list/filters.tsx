// Filters as chips, kept in the address: what is told there is what is shown. A page says which there are.
import './filters.css'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { query, setQuery } from '../../base/router'
import { Menu } from '../ask/menu'

export interface Filter {
    /** Of the parameter, in the address as in the call. */
    name: string
    label: string
    /** One of these, or several with `many`; absent: any text. */
    words?: readonly string[]
    many?: boolean
    placeholder?: string
    /** Always there as a field to type in, not behind "+ Filter". */
    first?: boolean
}

/** What the address says, checked against the filters that there are. */
export function readFilters(filters: readonly Filter[]): Record<string, string[]> {
    const found: Record<string, string[]> = {}
    for (const { name, words } of filters) {
        const values = query.value.getAll(name).filter(value => value && (!words || words.includes(value)))
        if (values.length > 0)
            found[name] = values
    }
    return found
}

/** Typing is not yet asking: the address follows when one pauses. */
function Typed({ filter, onDone }: { filter: Filter, onDone?: () => void }) {
    const told = query.value.get(filter.name) ?? ''
    const [text, setText] = useState(told)
    useLayoutEffect(() => setText(told), [told]) // at once: one may be typing already
    useEffect(() => {
        const timer = setTimeout(() => text !== told && setQuery({ [filter.name]: text }, { replace: true }), 250)
        return () => clearTimeout(timer)
    }, [text])
    return <input class="filter-text" type="search" aria-label={filter.label} value={text} spellcheck={false}
        placeholder={filter.placeholder ?? filter.label} autoFocus={!!onDone}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => {
            if (event.key === 'Enter') {
                setQuery({ [filter.name]: text }, { replace: true })
                onDone?.()
            }
        }} />
}

function Chip({ filter, values }: { filter: Filter, values: string[] }) {
    const without = (value: string) => setQuery({ [filter.name]: values.filter(one => one !== value) })
    return (
        <li class="chip">
            <span class="soft">{filter.label}</span>
            {values.map(value => <button key={value} type="button" class="chip-value"
                aria-label={`${filter.label} ${value}: remove`} onClick={() => without(value)}>
                {value} <span aria-hidden="true">×</span></button>)}
        </li>
    )
}

export function Filters({ filters }: { filters: readonly Filter[] }) {
    const [typing, type] = useState<Filter | null>(null)
    const found = readFilters(filters)
    const items = filters.filter(filter => !filter.first).flatMap(filter => filter.words
        ? filter.words.map(word => ({
            name: word.replace(/_/g, ' '), group: filter.label, chosen: found[filter.name]?.includes(word) ?? false,
            run: () => {
                const now = found[filter.name] ?? []
                const rest = now.filter(one => one !== word)
                setQuery({ [filter.name]: rest.length < now.length ? rest : filter.many ? [...now, word] : [word] })
            },
        }))
        : [{ name: `${filter.label} …`, group: 'Others', run: () => type(filter) }])
    const chips = filters.filter(filter => !filter.first && found[filter.name] && typing !== filter)
    return (
        <div class="filters" role="search">
            {filters.filter(filter => filter.first).map(filter => <Typed key={filter.name} filter={filter} />)}
            <ul class="chips">
                {chips.map(filter => <Chip key={filter.name} filter={filter} values={found[filter.name]} />)}
            </ul>
            {typing && <Typed key={typing.name} filter={typing} onDone={() => type(null)} />}
            {items.length > 0 && <Menu label="+ Filter" items={items} />}
            {Object.keys(found).length > 0 && <button class="button plain" type="button"
                onClick={() => setQuery(Object.fromEntries(filters.map(filter => [filter.name, null])))}>
                Clear</button>}
        </div>
    )
}
