// The explainer of cron expressions: what one means in a zone, when it runs, and what changes of the clock do to it.
// The text that is typed is in the address, so that it can be sent to others.
import './cron.css'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { SchedulePreview } from 'openapi'
import { useResource } from '../../api/resource'
import { printQuery } from '../../base/query'
import { query, setQuery } from '../../base/router'
import { myZone } from '../../base/when'
import { Check, Field } from '../../parts/ask/field'
import { Empty } from '../../parts/show/empty'
import { ProblemBox } from '../../parts/show/problem'
import { AsCommand, Runs } from './runs'

const PAUSE_MS = 200 // typing is not yet asking
const RUNS = 20
const MORE_RUNS = 100

const examples: [string, string][] = [
    ['*/15 * * * *', 'each quarter of an hour'],
    ['30 2 * * *', 'each night; not there on one of them, twice on another'],
    ['0 9 * * MON-FRI', 'on working days'],
    ['0 0 L * *', 'on the last day of the month'],
    ['0 12 * * FRI#2', 'on the second Friday'],
    ['H H(1-5) * * *', 'some time at night, another for each name'],
    ['@every 90s', 'ninety seconds after the one before'],
]

const gaps = [{ value: 'after', name: 'run after the jump' }, { value: 'skip', name: 'do not run' }]
const folds = [{ value: 'first', name: 'at the first pass' }, { value: 'second', name: 'at the second pass' },
    { value: 'both', name: 'at both' }]

function zones(): string[] {
    const known = (Intl as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.('timeZone') ?? []
    return [...new Set(['UTC', myZone(), ...known])]
}
const zoneNames = zones()

/** A parameter of the address as one types it: the address follows when one pauses. */
function useTyped(name: string): [string, (text: string) => void] {
    const told = query.value.get(name) ?? ''
    const [text, setText] = useState(told)
    useLayoutEffect(() => setText(told), [told]) // at once: one may be typing already
    useEffect(() => {
        const timer = setTimeout(() => text !== told && setQuery({ [name]: text }, { replace: true }), PAUSE_MS)
        return () => clearTimeout(timer)
    }, [text])
    return [text, setText]
}

export default function Cron() {
    const [cron, setCron] = useTyped('cron')
    const [zone, setZone] = useTyped('timezone')
    const [name, setName] = useTyped('name')
    const asked = query.value
    const told = (key: string) => asked.get(key) ?? ''
    const seconds = told('seconds') === 'true'
    const isMore = told('more') === 'true'
    const expression = told('cron').trim()
    const preview = useResource<SchedulePreview>(expression ? '/schedule/preview' : null, {
        cron: expression, timezone: told('timezone').trim(), seconds, name: told('name').trim(),
        gap: told('gap'), fold: told('fold'), count: isMore ? MORE_RUNS : RUNS,
    }, { keep: true, every: 60_000 })
    const { problem, data } = preview
    const wrong = (field: string) => expression ? problem?.errors.find(error => error.field === field)?.message : null
    const isSaid = !!(wrong('cron') || wrong('timezone') || wrong('name'))
    const set = (key: string) => (value: string) => setQuery({ [key]: value }, { replace: true })
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Cron</h1>
            <div class="cron-form">
                <Field name="Expression" mono autofocus value={cron} onInput={setCron} error={wrong('cron')}
                    hint="minute, hour, day of month, month, day of week" />
                <Field name="Zone" value={zone} onInput={setZone} error={wrong('timezone')} known={zoneNames}
                    hint="UTC when it is empty" />
                <Field name="When clocks jump over it" value={told('gap') || 'after'} onInput={set('gap')}
                    choices={gaps} />
                <Field name="When it comes up twice" value={told('fold') || 'first'} onInput={set('fold')}
                    choices={folds} />
                {/\bH\b/.test(cron) && <Field name="Name of the job" value={name} onInput={setName}
                    error={wrong('name')} hint="H is another minute for each" />}
                <Check name="six fields, the first for seconds" checked={seconds}
                    onChange={on => setQuery({ seconds: on ? 'true' : null }, { replace: true })} />
            </div>
            {problem && expression && !isSaid && <ProblemBox problem={problem} retry={preview.reload} />}
            {expression && data && <>
                <Runs preview={data} isOld={preview.isPrevious || problem !== null} />
                <div class="row"><button class="button" type="button"
                    onClick={() => setQuery({ more: isMore ? null : 'true' }, { replace: true })}>
                    {isMore ? `Show ${RUNS}` : `Show ${MORE_RUNS}`}</button></div>
                <AsCommand cron={expression} zone={told('timezone')} seconds={seconds} />
            </>}
            {!expression && <Examples />}
        </div>
    )
}

function Examples() {
    return (
        <Empty title="Type an expression, or begin with one of these."
            command="belfry cron '30 2 * * *' --tz Europe/Berlin">
            <ul class="cron-examples">{examples.map(([cron, meaning]) => <li key={cron}>
                <a href={'/cron' + printQuery({ cron, timezone: query.value.get('timezone'),
                    name: cron.includes('H') ? 'nightly' : null })}><code>{cron}</code></a> {meaning}
            </li>)}</ul>
        </Empty>
    )
}
