// The slots of a job's schedule with what became of each, the newest at the end. Arrows move among them, Enter opens
// the run; the line below says all of the one that is looked at.
import './pastslots.css'
import { Fragment } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Job, SlotOutcome } from 'openapi'
import { usePages } from '../../api/pages'
import { count, number } from '../../base/format'
import { go } from '../../base/router'
import { state } from '../../base/states'
import { exact, parse, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { OldData } from '../../parts/show/problem'
import { Shape } from '../../parts/show/status'
import { zoneOf } from '../common/schedule'

const DAY_MS = 86_400_000
const BACK_DAYS = 366

const stateOf = (slot: SlotOutcome) => slot.outcome === 'fired' ? slot.status ?? 'fired' : slot.outcome

function said(slot: SlotOutcome, zone: string): string {
    const at = (text: string | null) => exact(parse(text) ?? 0, zone)
    return `${slot.count > 1 ? `${count(slot.count, 'slot')}, ` : ''}${at(slot.slot)}` +
        `${slot.slot_last && slot.slot_last !== slot.slot ? ` to ${at(slot.slot_last)}` : ''}` +
        ` ${state(stateOf(slot)).word}${slot.reason ? `: ${slot.reason}` : ''}`
}

function Mark({ slot }: { slot: SlotOutcome }) {
    const { hue, shape } = state(stateOf(slot))
    return <span class={`hue-${hue}`}><Shape shape={shape} /></span>
}

function Cell({ slot, zone, isNewest, look }: {
    slot: SlotOutcome, zone: string, isNewest: boolean, look: (slot: string) => void,
}) {
    const { hue, shape } = state(stateOf(slot))
    // Times take long to print, and all cells come anew when the list is read again.
    const text = useMemo(() => said(slot, zone),
        [slot.slot, slot.slot_last, slot.count, slot.status, slot.reason, zone])
    return (
        <button type="button" class={`pastslots-cell hue-${hue}`} aria-label={text} title={text}
            tabIndex={isNewest ? 0 : -1} onFocus={() => look(slot.slot)} onMouseEnter={() => look(slot.slot)}
            onClick={() => slot.execution_id && go(`/executions/${slot.execution_id}`)}>
            <Shape shape={shape} />
            {slot.count > 1 && <span class="small number">{number(slot.count)}</span>}
        </button>
    )
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const CLOSE_MS = 8 * 3_600_000 // slots that come more often are marked by days, others by months

/** Where a new day begins, or month, its name; for eyes alone, since each cell says its time. */
function marksOf(past: readonly SlotOutcome[], zone: string): (string | null)[] {
    const times = past.map(slot => parse(slot.slot) ?? 0)
    const isClose = times.length > 1 && (times[times.length - 1] - times[0]) / (times.length - 1) < CLOSE_MS
    const names = times.map(ms => exact(ms, zone).slice(0, isClose ? 10 : 7))
    return names.map((name, i) => name === names[i - 1] ? null
        : `${MONTHS[Number(name.slice(5, 7)) - 1]} ${isClose ? Number(name.slice(8)) : name.slice(0, 4)}`)
}

function summary(slots: readonly SlotOutcome[]): string {
    const sums = new Map<string, number>()
    for (const slot of slots)
        sums.set(stateOf(slot), (sums.get(stateOf(slot)) ?? 0) + slot.count)
    return [...sums].sort((a, b) => b[1] - a[1]).map(([name, n]) => `${number(n)} ${state(name).word}`).join(', ')
}

export function PastSlots({ job }: { job: Job }) {
    const from = useMemo(() => new Date(Math.floor(Date.now() / DAY_MS - BACK_DAYS) * DAY_MS).toISOString(), [])
    const list = usePages<SlotOutcome>(`/jobs/${job.job_id}/slots`, 'slots', { from, limit: 300 }, { every: 5000 })
    const [looked, look] = useState<string | null>(null)
    const past = useMemo(() => list.rows.filter(slot => slot.outcome !== 'planned').reverse(), [list.rows])
    const zone = pickZone(zoneChoice.value, zoneOf(job))
    const current = past.find(slot => slot.slot === looked) ?? past[past.length - 1]

    const cells = useMemo(() => {
        const marks = marksOf(past, zone)
        return past.map((slot, i) => <Fragment key={slot.slot}>
            {marks[i] && <span class="pastslots-mark number" aria-hidden="true">{marks[i]}</span>}
            <Cell slot={slot} zone={zone} isNewest={i === past.length - 1} look={look} />
        </Fragment>)
    }, [past, zone])
    const box = useRef<HTMLDivElement>(null)
    useEffect(() => { // the newest ones are seen first
        box.current?.scrollTo(0, box.current.scrollHeight)
    }, [past.length > 0])
    const onKeyDown = (event: KeyboardEvent) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        const cells = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('button')]
        if (!step)
            return
        event.preventDefault()
        cells[cells.indexOf(event.target as HTMLElement) + step]?.focus()
    }
    return (
        <section class="panel">
            <h2>Past slots <span class="soft">{past.length > 0 &&
                `${count(past.reduce((sum, slot) => sum + slot.count, 0), 'slot')}: ${summary(past)}`}</span></h2>
            <OldData problem={list.problem} at={list.at} retry={list.reload} />
            {list.at !== null && past.length === 0 && <p class="soft">
                No slot has passed yet{list.hasMore ? ' among those that were read' : ''}.</p>}
            {past.length > 0 && <div ref={box} class="pastslots" role="group" aria-label="Past slots"
                onKeyDown={onKeyDown}>
                {cells}
            </div>}
            {current && <p class="pastslots-said">
                <Mark slot={current} />{' '}
                {said(current, zone)}{' '}
                {current.execution_id && <a href={`/executions/${current.execution_id}`}>Its run</a>}
            </p>}
            {list.hasMore && <button class="button plain" type="button" disabled={list.loading} onClick={list.more}>
                Earlier ones</button>}
        </section>
    )
}
