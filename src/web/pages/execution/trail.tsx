// The steps of an execution, in order, and how long it waited or ran between; each wait says for what.
import './trail.css'
import { useMemo, useState } from 'preact/hooks'
import type { Execution, ExecutionTransition } from 'openapi'
import { count, duration } from '../../base/format'
import { state } from '../../base/states'
import { parse } from '../../base/when'
import { now } from '../../live/live'
import { Id } from '../../parts/show/id'
import { Linked } from '../../parts/show/linked'
import { Shape, Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'
import { Named } from '../common/named'
import { eventWords, sinceDue, Stretch, stretches, widths } from './stretches'

/** An execution may have been tried a thousand times: so many of the newest are drawn, more steps when one asks. */
const DRAWN_MAX = 100

function Bar({ all }: { all: readonly Stretch[] }) {
    const shown = all.slice(-DRAWN_MAX)
    const at = shown[shown.length - 1].to ?? now.value
    const wide = widths(shown, at)
    const said = shown.map(one => `${one.words} ${duration(Math.max(0, (one.to ?? at) - one.from))}`)
    const most = all.length > shown.length ? `The newest ${shown.length} of ${all.length}, in order` : 'In order'
    return (
        <div class="trail-bar" role="img" aria-label={`${most}: ${said.join(', ')}`}>
            {shown.map((one, i) => <div key={i} class={`trail-part is-${one.status}`} style={{ width: `${wide[i]}%` }}
                title={said[i]}>{wide[i] > 12 ? said[i] : ''}</div>)}
        </div>
    )
}

const shapeOf: Record<string, string> = {
    succeed: 'completed', retry: 'retrying', exhaust: 'failed', expire: 'timeout', lost: 'lost', cancel: 'cancelled',
    stopped: 'cancelled', skip: 'skipped', quarantine: 'failed', overdue: 'expired', lease: 'running',
    return: 'returned', deduplicate: 'deduplicated', sla_violation: 'timeout', sla_warning: 'warning',
}

function Actor({ actor }: { actor: string }) {
    const [kind, name] = [actor.slice(0, actor.indexOf(':')), actor.slice(actor.indexOf(':') + 1)]
    if (kind === 'worker')
        return <Id id={name} href={`/workers/${name}`} />
    return <bdi>{actor}</bdi>
}

function Step({ step, gapMs, status }: { step: ExecutionTransition, gapMs: number | null, status: string | null }) {
    const { hue, shape } = state(shapeOf[step.event] ?? step.status)
    const meaning = gapMs !== null && gapMs >= 1 && status
        ? stretches([{ ...step, status: status as ExecutionTransition['status'] }])[0]?.words : null
    return (
        <>
            {meaning && <li class="trail-gap soft">{meaning} {duration(gapMs!)}</li>}
            <li class="trail-step">
                <span class={`hue-${hue}`}><Shape shape={shape} /></span>
                <Time at={step.at} exactly={{ day: false }} />
                <span class="trail-words">
                    {eventWords(step.event)}
                    {step.reason && <>: <bdi class="trail-reason"><Linked text={step.reason} /></bdi></>}
                    {step.actor !== 'server' && <span class="soft"> by <Actor actor={step.actor} /></span>}
                </span>
            </li>
        </>
    )
}

/** The clock is nothing to them: they are drawn anew when there are others. */
function Steps({ transitions }: Pick<Execution, 'transitions'>) {
    const [all, showAll] = useState(false)
    const hidden = all ? 0 : Math.max(0, transitions.length - DRAWN_MAX)
    const steps = useMemo(() => transitions.slice(hidden).map((step, i) => {
        const last = transitions[hidden + i - 1]
        const before = parse(last?.at)
        const at = parse(step.at)
        return <Step key={hidden + i} step={step} status={last?.status ?? null}
            gapMs={before === null || at === null ? null : at - before} />
    }), [transitions, hidden])
    return (
        <>
            {hidden > 0 && <li><button class="button plain" type="button" onClick={() => showAll(true)}>
                {count(hidden, 'earlier step')}</button></li>}
            {steps}
        </>
    )
}

/** `blocker` is what it waits for now. */
export function Trail({ execution, blocker }: { execution: Execution, blocker: string | null }) {
    const { transitions } = execution
    const all = stretches(transitions)
    const open = all[all.length - 1]
    const first = parse(transitions[0]?.at)
    return (
        <section class="panel trail">
            <h2>Timeline {first !== null &&
                <span class="soft small">since <Time at={transitions[0].at} exactly /></span>}</h2>
            {all.length > 0 && <Bar all={sinceDue(all)} />}
            <ol class="trail-steps">
                <Steps transitions={transitions} />
                {open?.to === null && <li class="trail-step">
                    <Status state={execution.status} word={execution.stopping ? 'stopping' : undefined} />
                    <span class="soft number">for <Duration since={new Date(open.from).toISOString()} />
                        {blocker && <>: <Named text={blocker} /></>}</span>
                </li>}
            </ol>
        </section>
    )
}
