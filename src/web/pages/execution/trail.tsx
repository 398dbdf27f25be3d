// What happened to an execution, in order, and how long it waited or ran between; each wait says for what.
import './trail.css'
import type { Execution, ExecutionTransition } from 'openapi'
import { duration } from '../../base/format'
import { state } from '../../base/states'
import { parse } from '../../base/when'
import { now } from '../../live/live'
import { Id } from '../../parts/show/id'
import { Linked } from '../../parts/show/linked'
import { Shape, Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { Named } from '../common/named'
import { eventWords, sinceDue, Stretch, stretches, widths } from './stretches'

function Bar({ all }: { all: readonly Stretch[] }) {
    const wide = widths(all, now.value)
    const said = all.map(one => `${one.words} ${duration((one.to ?? now.value) - one.from)}`).join(', ')
    return (
        <div class="trail-bar" role="img" aria-label={`In order: ${said}`}>
            {all.map((one, i) => {
                const text = `${one.words} ${duration(Math.max(0, (one.to ?? now.value) - one.from))}`
                return <div key={i} class={`trail-part is-${one.status}`} style={{ width: `${wide[i]}%` }}
                    title={text}>{wide[i] > 12 ? text : ''}</div>
            })}
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
                {transitions.map((step, i) => {
                    const before = i > 0 ? parse(transitions[i - 1].at) : null
                    const at = parse(step.at)
                    return <Step key={i} step={step} status={i > 0 ? transitions[i - 1].status : null}
                        gapMs={before === null || at === null ? null : at - before} />
                })}
                {open?.to === null && <li class="trail-step">
                    <Status state={execution.status} word={execution.stopping ? 'stopping' : undefined} />
                    <span class="soft number">for {duration(Math.max(0, now.value - open.from))}
                        {blocker && <>: <Named text={blocker} /></>}</span>
                </li>}
            </ol>
        </section>
    )
}
