// All attempts of an execution side by side: one column each, what differs in rows.
import './attempts.css'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Attempt, Execution } from 'openapi'
import { bytes, duration, number } from '../../base/format'
import { printQuery } from '../../base/query'
import { Empty } from '../../parts/show/empty'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'

type Fact = [string, (one: Attempt, executionId: string) => ComponentChildren]

const facts: Fact[] = [
    ['Outcome', one => <Status state={one.outcome} />],
    ['Worker', one => one.worker_id ? <Id id={one.worker_id} href={`/workers/${one.worker_id}`} /> : '–'],
    ['Began', one => <Time at={one.started_at} exactly />],
    ['Took', one => <Duration ms={one.duration_ms} />],
    ['Exit code', one => one.signal !== null ? `signal ${one.signal}` : one.exit_code ?? '–'],
    ['Processor', one => <span class="number">{duration(one.cpu_ms)}</span>],
    ['Memory', one => <span class="number" title="At most">{bytes(one.peak_memory_bytes)}</span>],
    ['Output', (one, id) => <>
        <a href={`/executions/${id}/output${printQuery({ attempt: one.attempt })}`}>{bytes(one.output_bytes)}</a>
        {one.dropped_bytes > 0 && <span class="soft"> {bytes(one.dropped_bytes)} of it not kept</span>}
    </>],
    ['Error', one => one.error ?? ''],
    ['Class', one => one.error_class
        ? <a href={`/executions${printQuery({ class: one.error_class })}`}><code>{one.error_class}</code></a> : ''],
    ['Fingerprint', one => one.fingerprint ? <a href={`/executions${printQuery({ fingerprint: one.fingerprint })}`}
        title={one.fingerprint_text ?? undefined}><code>{one.fingerprint}</code></a> : ''],
    ['Token', one => <code>{one.token}</code>],
]

/** What is the same in all of them needs no comparing. */
const differs = (attempts: Attempt[], key: keyof Attempt) => new Set(attempts.map(one => one[key])).size > 1

/** So many of the newest stand side by side, until one asks for all. */
const SHOWN_MAX = 30

export function Attempts({ execution }: { execution: Execution }) {
    const { attempts: known, execution_id: id } = execution
    const [all, showAll] = useState(false)
    const attempts = all ? known : known.slice(-SHOWN_MAX)
    if (attempts.length === 0)
        return <Empty title={execution.status === 'running' ? 'The first attempt is under way.'
            : 'There was no attempt yet.'}>An attempt appears here when it has ended.</Empty>
    const isMixed = differs(known, 'fingerprint') && known.length > 1
    return (
        <div class="stack">
            {known.length > 1 && <p class="soft">{isMixed ? 'They did not all end in the same way.'
                : attempts[0].fingerprint ? 'All of them failed in the same way.' : ''}</p>}
            {attempts.length < known.length && <p>The newest {attempts.length} of {number(known.length)}.{' '}
                <button class="button plain" type="button" onClick={() => showAll(true)}>All of them</button></p>}
            <div class="attempts" tabIndex={0} role="region" aria-label="Attempts">
                <table>
                    <thead><tr>
                        <th scope="col"><span class="hidden-text">Fact</span></th>
                        {attempts.map(one => <th key={one.token} scope="col">Attempt {one.attempt}</th>)}
                    </tr></thead>
                    <tbody>
                        {facts.map(([name, show]) => <tr key={name}>
                            <th scope="row">{name}</th>
                            {attempts.map(one => <td key={one.token}>{show(one, id)}</td>)}
                        </tr>)}
                        {attempts.some(one => one.error_tail) && <tr>
                            <th scope="row">End of stderr</th>
                            {attempts.map(one => <td key={one.token}>
                                {one.error_tail && <pre class="mono attempts-tail" tabIndex={0}
                                    aria-label={`End of stderr of attempt ${one.attempt}`}>{one.error_tail}</pre>}
                            </td>)}
                        </tr>}
                    </tbody>
                </table>
            </div>
        </div>
    )
}
