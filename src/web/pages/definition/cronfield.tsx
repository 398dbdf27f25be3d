// A cron expression, clicked or typed: both are the same text, so one can begin with clicks and go on typing. Below
// stand its meaning and its next runs, as the server tells them, and a warning when it comes too often.
import './cronfield.css'
import type { SchedulePreview } from 'openapi'
import { useEffect, useState } from 'preact/hooks'
import { useResource } from '../../api/resource'
import { myZone, zoneLabel } from '../../base/when'
import { Field } from '../../parts/ask/field'
import { Away } from '../../parts/show/time'
import { frequentText } from '../cron/frequent'
import { Clicked, LAST_DAY, printCron, readCron, STEPS, usual } from './cron'
import { FormProps, useFields } from './form'
import { LoadHint } from './loadhint'

const PREVIEWED = 5
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

const range = (n: number, name: (i: number) => string = i => String(i).padStart(2, '0')) =>
    Array.from({ length: n }, (_, i) => ({ value: String(i), name: name(i) }))

const kinds: { value: Clicked['kind'], name: string }[] = [
    { value: 'minutes', name: 'every few minutes' }, { value: 'hourly', name: 'every hour' },
    { value: 'daily', name: 'every day' }, { value: 'weekly', name: 'on days of the week' },
    { value: 'monthly', name: 'on a day of the month' },
]

function Clicks({ now, set }: { now: Clicked, set: (clicked: Clicked) => void }) {
    const pick = (patch: Partial<Clicked>) => set({ ...now, ...patch })
    const hasClock = now.kind !== 'minutes' && now.kind !== 'hourly'
    const toggle = (day: number) => pick({
        days: now.days.includes(day) ? now.days.filter(one => one !== day) : [...now.days, day],
    })
    return (
        <div class="cronfield-clicks">
            <Field name="Repeats" value={now.kind} choices={kinds}
                onInput={kind => pick({ kind: kind as Clicked['kind'] })} />
            {now.kind === 'minutes' && <Field name="Minutes apart" value={String(now.step)}
                choices={STEPS.map(n => ({ value: String(n), name: String(n) }))}
                onInput={step => pick({ step: Number(step) })} />}
            {now.kind === 'monthly' && <Field name="Day" value={String(now.day)}
                choices={[...range(31, i => String(i + 1)).map(one => ({ ...one, value: one.name })),
                    { value: String(LAST_DAY), name: 'the last one' }]}
                onInput={day => pick({ day: Number(day) })} />}
            {hasClock && <Field name="Hour" value={String(now.hour)} choices={range(24)}
                onInput={hour => pick({ hour: Number(hour) })} />}
            {now.kind !== 'minutes' && <Field name="Minute" value={String(now.minute)} choices={range(60)}
                onInput={minute => pick({ minute: Number(minute) })} />}
            {now.kind === 'weekly' && <div class="row" role="group" aria-label="Days of the week">
                {DAYS.map((name, day) => <button key={name} type="button" aria-pressed={now.days.includes(day)}
                    class={`button${now.days.includes(day) ? ' main' : ''}`} onClick={() => toggle(day)}>
                    {name}</button>)}
            </div>}
        </div>
    )
}

interface Asked { cron: string, zone: string, seconds: boolean, name: string, queue: string }

function Preview({ cron, zone, seconds, name, queue, editing }: Asked & { editing?: boolean }) {
    const [asked, ask] = useState<Asked>({ cron, zone, seconds, name, queue })
    useEffect(() => {
        const timer = setTimeout(() => ask({ cron, zone, seconds, name, queue }), 300)
        return () => clearTimeout(timer)
    }, [cron, zone, seconds, name, queue])
    const { data, problem } = useResource<SchedulePreview>(asked.cron.trim() ? '/schedule/preview' : null,
        { cron: asked.cron, timezone: asked.zone, seconds: asked.seconds, name: asked.name, count: PREVIEWED })
    if (problem)
        return <p class="field-error" role="status">{problem.detail}</p>
    if (!data)
        return null
    const frequent = frequentText(data.next_runs)
    return <>
        <div class="cronfield-preview" role="status">
            <p><strong>{data.schedule_text}</strong></p>
            <ul>{data.next_runs.map((at, i) => <li key={at}>
                <span class="number">{data.next_runs_local[i].slice(0, 19).replace('T', ' ')} {zoneLabel(data.timezone)}
                </span>{' '}
                <Away at={at} />
            </li>)}</ul>
            {data.notes.map(note => <p key={note.text}>{note.text}</p>)}
            {frequent && <p class="old-data">{frequent}</p>}
        </div>
        <LoadHint queue={asked.queue} runs={data.next_runs} zone={data.timezone} editing={editing} />
    </>
}

export function CronField(props: FormProps) {
    const { draft } = props
    const { field, change } = useFields(props)
    const text = draft.fields['schedule.cron'] ?? ''
    useEffect(() => {
        if (!text)
            change('schedule.cron', printCron(usual))
    }, [])
    const clicked = draft.seconds ? null : readCron(text)
    const zone = draft.fields['schedule.timezone'] ?? ''
    return (
        <>
            {clicked ? <Clicks now={clicked} set={next => change('schedule.cron', printCron(next))} />
                : <p class="row soft">{text && 'This says more than can be clicked.'}
                    {!draft.seconds && <button class="button plain" type="button"
                        onClick={() => change('schedule.cron', printCron(usual))}>Begin with a daily one</button>}</p>}
            <Field name="Cron expression" mono {...field('schedule.cron')}
                hint="Minute, hour, day of month, month, day of week; also @daily, L, FRI#2." />
            <Field name="Time zone" mono {...field('schedule.timezone')}
                hint={<>As Europe/Berlin; UTC if empty. {zone !== myZone() && <button type="button"
                    class="button plain small" onClick={() => change('schedule.timezone', myZone())}>
                    Take mine: {myZone()}</button>}</>} />
            <Preview cron={text} zone={zone} seconds={draft.seconds} name={draft.fields.name ?? ''}
                queue={draft.fields.queue?.trim() || 'default'} editing={props.editing} />
        </>
    )
}
