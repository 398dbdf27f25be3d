// The meaning of an expression: in words, its next runs, and what changes of the clock do to them.
import './runs.css'
import type { SchedulePreview } from 'openapi'
import { exact, parse } from '../../base/when'
import { Code } from '../../parts/show/code'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { now } from '../../live/live'
import { shell } from '../definition/command'
import { DAY_MS, frequentText } from './frequent'

function Run({ at, local, note }: { at: string, local: string, note?: string }) {
    const [day, rest] = local.split('T')
    const weekday = new Date(`${day}T00:00:00Z`).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' })
    return (
        <li class="cron-run">
            <span class="number">{weekday} {day} <strong>{rest.slice(0, 8)}</strong>
                <span class="soft"> {rest.slice(12)}</span></span>
            <span class="soft small number">{exact(parse(at) ?? 0, 'UTC')}</span>
            <span class="soft small">{parse(at)! - now.value < DAY_MS && <Time at={at} />}</span>
            {note && <span class="cron-run-note"><Status state="warning" word={note} /></span>}
        </li>
    )
}

export function Runs({ preview, isOld }: { preview: SchedulePreview, isOld: boolean }) {
    const { next_runs: runs, next_runs_local: local, notes, timezone } = preview
    const frequent = frequentText(runs)
    const beside = new Map(notes.map(note => [note.at, note.text]))
    const others = notes.filter(note => !runs.includes(note.at))
    return (
        <section class={`stack${isOld ? ' is-old' : ''}`}>
            <p class="lead" role="status">{preview.schedule_text}</p>
            {frequent && <p class="old-data">{frequent}</p>}
            <div>
                <h2>Next runs <span class="soft">by the clocks of {timezone}</span></h2>
                {runs.length === 0 && <p class="soft">None.</p>}
                <ol class="cron-runs">{runs.map((at, i) =>
                    <Run key={at} at={at} local={local[i]} note={beside.get(at)} />)}</ol>
            </div>
            {others.length > 0 && <ul>{others.map(note => <li key={note.at}>
                <Status state="warning" word={note.text} /></li>)}</ul>}
        </section>
    )
}

export function AsCommand({ cron, zone, seconds }: { cron: string, zone: string, seconds: boolean }) {
    const command = `belfry submit --cron ${shell(cron)}${zone ? ` --tz ${shell(zone)}` : ''}${
        seconds ? ' --seconds' : ''} --name nightly -- COMMAND`
    return <Code text={command} label="command" wrap />
}
