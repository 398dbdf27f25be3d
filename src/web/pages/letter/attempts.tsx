// The attempts of a dead letter, the last one first, with their last words.
import type { Attempt } from 'openapi'
import { part } from '../../base/query'
import { Code } from '../../parts/show/code'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'

const SHOWN = 20

export function Attempts({ attempts }: { attempts: Attempt[] }) {
    const last = [...attempts].reverse().slice(0, SHOWN)
    return (
        <section class="stack">
            <h2>Attempts</h2>
            {last.map((attempt, i) => (
                <div key={attempt.attempt} class="panel stack">
                    <p class="row letters-text">
                        <strong class="number">{attempt.attempt}</strong> <Status state={attempt.outcome} />
                        <span>{attempt.error}</span>
                        <span class="soft small">began <Time at={attempt.started_at} />, took <Duration
                            ms={attempt.duration_ms} />{attempt.worker_id && <>, on <a
                            href={`/workers/${part(attempt.worker_id)}`}>a worker</a></>}</span>
                    </p>
                    {attempt.error_tail && (i === 0
                        ? <Code text={attempt.error_tail} label="last lines" wrap />
                        : <details><summary>Its last lines</summary>
                            <Code text={attempt.error_tail} label="last lines" wrap /></details>)}
                </div>
            ))}
        </section>
    )
}
