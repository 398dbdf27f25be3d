// The form of a job: what it runs, when, and how. Each error stands at its field, in the server's words.
import './form.css'
import { useState } from 'preact/hooks'
import type { FieldError } from '../../api/problem'
import { Check, Field } from '../../parts/ask/field'
import { CronField } from './cronfield'
import type { Draft, Kind, When } from './draft'

export interface FormProps {
    draft: Draft
    set: (draft: Draft) => void
    errors: readonly FieldError[]
    /** Of a job that is there: its name, and whether it recurs, stay. */
    editing?: boolean
}

/** A field of the draft, with its error. */
export function useFields({ draft, set, errors }: FormProps) {
    const change = (path: string, value: string) => set({ ...draft, fields: { ...draft.fields, [path]: value } })
    const errorOf = (...paths: string[]) => errors.find(({ field }) =>
        paths.some(path => field === path || field.startsWith(path + '.') || field.startsWith(path + '[')))?.message
    const field = (path: string, ...others: string[]) => ({
        value: draft.fields[path] ?? '', error: errorOf(path, ...others),
        onInput: (value: string) => change(path, value),
    })
    return { field, change, errorOf }
}

function Choice<T extends string>({ label, value, choices, onChange }: {
    label: string, value: T, choices: readonly (readonly [T, string])[], onChange: (value: T) => void,
}) {
    return (
        <fieldset class="form-choice">
            <legend>{label}</legend>
            {choices.map(([one, name]) => <label key={one} class="check">
                <input type="radio" name={label} checked={value === one} onChange={() => onChange(one)} />
                <span>{name}</span>
            </label>)}
        </fieldset>
    )
}

const kinds: [Kind, string][] = [['shell', 'A command line'], ['program', 'A program and its arguments'],
    ['handler', 'A handler of a worker']]

function What(props: FormProps) {
    const { draft, set } = props
    const { field } = useFields(props)
    return (
        <section class="form-part panel">
            <h2>What to run</h2>
            <Choice label="Kind of work" value={draft.kind} choices={kinds}
                onChange={kind => set({ ...draft, kind })} />
            {draft.kind === 'shell' && <Field name="Command line" mono {...field('shell', 'command')}
                hint="Run by /bin/sh -c, where a worker is." />}
            {draft.kind === 'program' && <Field name="Program and arguments, one in each line" kind="area" rows={3} mono
                {...field('program', 'command')} hint="Executed as they are, without a shell." />}
            {draft.kind === 'handler' && <Field name="Handler" mono {...field('handler', 'command')}
                hint="Taken by workers that say that they know it." />}
            <Field name="Payload" kind="area" rows={3} mono {...field('payload')}
                hint="JSON; the command reads it from its standard input. May be left empty." />
        </section>
    )
}

const once: [When, string][] = [['now', 'Once, now'], ['at', 'Once, at a time'], ['delay', 'Once, after a while']]
const again: [When, string][] = [['every', 'Again and again, so far apart'], ['cron', 'By the calendar (cron)']]

/** datetime-local speaks of the browser's zone, without saying so. */
function toLocal(iso: string): string {
    const ms = Date.parse(iso)
    return Number.isNaN(ms) ? '' : new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
const fromLocal = (text: string) => text ? new Date(text).toISOString() : ''

function WhenPart(props: FormProps) {
    const { draft, set, editing } = props
    const { field, change, errorOf } = useFields(props)
    const recurs = draft.when === 'every' || draft.when === 'cron'
    const choices = !editing ? [...once, ...again] : recurs ? again : once
    return (
        <section class="form-part panel">
            <h2>When</h2>
            <Choice label="Schedule" value={draft.when} choices={choices} onChange={when => set({ ...draft, when })} />
            {draft.when === 'at' && <Field name="Time" kind="datetime-local" error={errorOf('schedule')}
                value={toLocal(draft.fields['schedule.at'] ?? '')}
                onInput={text => change('schedule.at', fromLocal(text))}
                hint={`In the zone of this browser; it is sent as ${draft.fields['schedule.at'] || 'UTC'}.`} />}
            {draft.when === 'delay' && <Field name="After" mono {...field('schedule.delay', 'schedule')}
                hint="As 90s, 15m, 1h30m or 2d." />}
            {draft.when === 'every' && <Field name="Every" mono {...field('schedule.every', 'schedule')}
                hint="As 90s, 15m, 1h30m or 2d; elapsed time, at least 1s." />}
            {draft.when === 'cron' && <>
                <CronField {...props} />
                <Check name="Six fields: the first is seconds" checked={draft.seconds}
                    onChange={seconds => set({ ...draft, seconds })} />
            </>}
            {recurs && <Field name="While a run is not over" {...field('overlap')} choices={[
                { value: '', name: 'skip the next slot (usual)' }, { value: 'queue', name: 'the next slot waits' },
                { value: 'parallel', name: 'run beside it' }, { value: 'replace', name: 'cancel it and start anew' },
                { value: 'skip', name: 'skip the next slot' },
            ].filter(one => one.value !== 'skip' || draft.fields.overlap === 'skip')} />}
        </section>
    )
}

const HOW = ['queue', 'priority', 'retry', 'timeout', 'sla', 'team', 'tags', 'env']

function How(props: FormProps) {
    const { field } = useFields(props)
    const isUsual = !Object.entries(props.draft.fields).some(([path, text]) => text && HOW.includes(path.split('.')[0]))
    const [open] = useState(!isUsual)
    return (
        <details class="form-part panel" open={open}>
            <summary><h2>How</h2> <span class="soft">queue, priority, retries, timeout, SLA, tags, environment</span>
            </summary>
            <div class="form-pairs">
                <Field name="Queue" mono {...field('queue')} hint="Where it waits; default if empty." />
                <Field name="Priority" {...field('priority')} hint="0 to 1000, higher first; 500 if empty." />
                <Field name="Retries" {...field('retry.max_retries')} hint="After a failure; 3 if empty." />
                <Field name="Delay between attempts" mono {...field('retry.delay')} hint="As 10s; 1s if empty." />
                <Field name="The delay" {...field('retry.policy')} choices={[
                    { value: '', name: 'doubles (usual)' }, { value: 'exponential', name: 'doubles' },
                    { value: 'linear', name: 'grows evenly' }, { value: 'fixed', name: 'stays' },
                    { value: 'immediate', name: 'is none' }]} />
                <Field name="Timeout" mono {...field('timeout')}
                    hint="Ends an attempt that takes longer; none if empty." />
                <Field name="SLA: expected" mono {...field('sla.expected', 'sla')} hint="Longer is a warning." />
                <Field name="SLA: at most" mono {...field('sla.max')} hint="Longer violates it." />
                <Field name="A run that violates it" {...field('sla.policy')} choices={[
                    { value: '', name: 'goes on, critical alert (usual)' },
                    { value: 'flexible', name: 'goes on, critical alert' },
                    { value: 'strict', name: 'is stopped' }, { value: 'warning_only', name: 'goes on, warning' }]} />
                <Field name="Team" mono {...field('team')} />
            </div>
            <Field name="Tags" kind="area" rows={3} mono {...field('tags')} hint="A line for each: key=value." />
            <Field name="Environment" kind="area" rows={3} mono {...field('env')} hint="A line for each: KEY=value." />
        </details>
    )
}

export function Form(props: FormProps) {
    const { field } = useFields(props)
    return (
        <div class="stack">
            <section class="form-part panel">
                {!props.editing && <Field name="Name" {...field('name')} autofocus
                    hint="May be empty. No other unfinished job has it." />}
                <Field name="What it is for" {...field('description')} />
            </section>
            <What {...props} />
            <WhenPart {...props} />
            <How {...props} />
        </div>
    )
}
