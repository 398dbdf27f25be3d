// The output of an attempt, as far as it has come.
import { useEffect, useState } from 'preact/hooks'
import type { Execution } from 'openapi'
import { LogLinesEnd, logSource, readLogAttempts } from '../../api/logs'
import { Problem, problemOf } from '../../api/problem'
import { query, setQuery } from '../../base/router'
import { Log } from '../../parts/log/log'
import { Empty } from '../../parts/show/empty'
import { ProblemBox } from '../../parts/show/problem'

const streams = ['stdout', 'stderr', 'note']

/** Attempts with output, and the one under way; the newest last. */
function attemptsOf(execution: Execution, end: LogLinesEnd): number[] {
    const all = new Set([...end.attempts.map(one => one.attempt), ...end.deleted_attempts ?? [],
        ...execution.attempts.map(one => one.attempt)])
    if (execution.status === 'running')
        all.add(execution.attempt_count) // which counts the one under way
    return [...all].sort((a, b) => a - b)
}

export function Output({ execution }: { execution: Execution }) {
    const { execution_id: id, status, attempts, token } = execution
    const [end, setEnd] = useState<LogLinesEnd | null>(null)
    const [problem, setProblem] = useState<Problem | null>(null)
    const [again, setAgain] = useState(0)
    useEffect(() => {
        let left = false
        readLogAttempts(id).then(found => left || (setEnd(found), setProblem(null)),
            why => left || setProblem(problemOf(why)))
        return () => {
            left = true
        }
    }, [id, status, attempts.length, token, again])

    if (!end)
        return problem && <ProblemBox problem={problem} retry={() => setAgain(again + 1)} />
    const all = attemptsOf(execution, end)
    if (all.length === 0)
        return <Empty title="It has not run yet.">What it prints is shown here as it prints it.</Empty>
    const asked = Number(query.value.get('attempt'))
    const attempt = all.includes(asked) ? asked : all[all.length - 1]
    const stream = streams.find(one => one === query.value.get('stream')) ?? null
    const source = logSource(id, attempt, stream)
    return (
        <Log key={source.key} source={source}
            empty={status === 'running' && attempt === all[all.length - 1] ? 'It has printed nothing yet.'
                : stream ? `It printed nothing to ${stream}.` : 'It printed nothing.'}
            choice={all.length > 1 && <select class="log-choice" aria-label="Attempt" value={attempt}
                onChange={event => setQuery({ attempt: event.currentTarget.value })}>
                {all.map(one => <option key={one} value={one}>attempt {one}</option>)}
            </select>} />
    )
}
