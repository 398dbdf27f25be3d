// Reasons that keep an execution from running, and what lifts each.
import './waits.css'
import type { Blocker, Explanation } from 'openapi'
import type { Loaded } from '../../api/resource'
import { count } from '../../base/format'
import { Code } from '../../parts/show/code'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Time } from '../../parts/show/time'
import { Named } from '../common/named'

/** "the queue 'mail' was paused …; resume it: belfry queues resume mail": what it is, and what to do about it. */
export function lift(text: string): { what: string, how: string | null, command: string | null } {
    const at = text.indexOf('; ')
    if (at < 0)
        return { what: text, how: null, command: null }
    const how = text.slice(at + 2)
    const command = /\bbelfry [a-z-]+( [^,;]*)?$/.exec(how)
    return {
        what: text.slice(0, at), how: command ? how.slice(0, command.index).replace(/: ?$/, '') : how,
        command: command ? command[0] : null,
    }
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function One({ blocker }: { blocker: Blocker }) {
    const { what, how, command } = lift(blocker.text)
    const { queue, executions } = blocker
    return (
        <li class="wait">
            <p class="wait-what"><Named text={what} /></p>
            <p class="soft">
                {how && <>{capital(how)}. </>}
                {blocker.until && <>It goes by itself <Time at={blocker.until} />. </>}
                {blocker.since && <>Since <Time at={blocker.since} />. </>}
                {queue && <a href={`/queues/${encodeURIComponent(queue)}`}>The queue {queue}</a>}
            </p>
            {command && <Code text={command} label="command" />}
            {executions && executions.length > 0 && <p class="row soft">
                {count(executions.length, 'execution')}: {executions.map(id =>
                    <Id key={id} id={id} href={`/executions/${id}`} />)}
            </p>}
        </li>
    )
}

export function Waits({ why }: { why: Loaded<Explanation> }) {
    const blockers = why.data?.blockers.filter(one => one.kind !== 'finished') ?? []
    if (blockers.length === 0)
        return why.problem ? <OldData problem={why.problem} at={why.at} retry={why.reload} /> : null
    const { estimated_start_time: start, expires_at: ends } = why.data!
    return (
        <section class="panel" aria-label="What it waits for">
            <h2>What it waits for</h2>
            <OldData problem={why.problem} at={why.at} retry={why.reload} />
            <ol class="waits">{blockers.map((one, i) => <One key={i} blocker={one} />)}</ol>
            {(start || ends) && <p class="soft waits-end">
                {start && <>It is likely to start <Time at={start} />. </>}
                {ends && <>It expires unless it has started by <Time at={ends} exactly />.</>}
            </p>}
        </section>
    )
}
