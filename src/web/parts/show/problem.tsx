// Problems, in the words of the server that refused something, with the id by which the server's log knows it; and a
// line for data that is shown although it is old.
import './problem.css'
import type { Problem } from '../../api/problem'
import { exact, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { byServer } from '../../live/live'
import { copy } from '../ask/toast'

export function ProblemBox({ problem, retry }: { problem: Problem, retry?: () => void }) {
    return (
        <div class="problem" role="alert">
            <p>
                <strong>{problem.status > 0 ? `${problem.status} ${problem.code}: ` : ''}</strong>
                {problem.detail}
            </p>
            {problem.errors.length > 0 && <ul>
                {problem.errors.map(error => <li key={error.field}>
                    <code>{error.field}</code> {error.message}
                </li>)}
            </ul>}
            <div class="row">
                {retry && <button class="button" type="button" onClick={retry}>Try again</button>}
                {problem.requestId && <button class="button plain small" type="button" title="Copy it"
                    onClick={() => void copy(problem.requestId!)}>request <code>{problem.requestId}</code></button>}
            </div>
        </div>
    )
}

/** Above what is shown from before: `at` says of when it is. With nothing to show, the problem itself. */
export function OldData({ problem, at, retry }: { problem: Problem | null, at: number | null, retry?: () => void }) {
    if (!problem)
        return null
    if (at === null)
        return <ProblemBox problem={problem} retry={retry} />
    return (
        <p class="old-data" role="status">
            As of {exact(byServer(at), pickZone(zoneChoice.value), { day: false })}: {problem.detail}
            {problem.requestId && <> (request <code>{problem.requestId}</code>)</>}
            {retry && <button class="button plain small" type="button" onClick={retry}>Try again</button>}
        </p>
    )
}
