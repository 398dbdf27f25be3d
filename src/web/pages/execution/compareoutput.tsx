// The first lines of two outputs that differ. Only the beginnings are read.
import { useEffect, useState } from 'preact/hooks'
import type { Execution } from 'openapi'
import { logSource } from '../../api/logs'
import { Problem, problemOf } from '../../api/problem'
import { ProblemBox } from '../../parts/show/problem'
import { DiffLine, diffLines, LineDiff } from './difflines'

const LINES_MAX = 500 // of each

const attemptOf = (one: Execution) => Math.max(1, one.attempts[one.attempts.length - 1]?.attempt ?? one.attempt_count)

interface Read { diff: LineDiff, lines: number, cut: boolean }

async function read(one: Execution, good: Execution, signal: AbortSignal): Promise<Read> {
    const [mine, its] = await Promise.all([one, good].map(run =>
        logSource(run.execution_id, attemptOf(run)).read({ from: 1 }, LINES_MAX, signal)))
    const texts = [its, mine].map(window => window.lines.filter(line => line.stream !== 'note').map(line => line.text))
    return { diff: diffLines(texts[0], texts[1]), lines: texts[1].length,
        cut: mine.lines.length >= LINES_MAX || its.lines.length >= LINES_MAX }
}

const marks = { same: ' ', before: '−', after: '+' }
const words = { same: '', before: 'only the other one: ', after: 'only this one: ' }

function Line({ line, one, good }: { line: DiffLine, one: Execution, good: Execution }) {
    const of = line.kind === 'before' ? good : one
    return (
        <li class={`compare-line is-${line.kind}`}>
            <a class="number" tabIndex={-1} aria-hidden="true"
                href={`/executions/${of.execution_id}/output?attempt=${attemptOf(of)}#L${line.n}`}>{line.n}</a>
            <span aria-hidden="true">{marks[line.kind]}</span>
            <span class="hidden-text">{words[line.kind]}</span>
            <span class="compare-text">{line.text}</span>
        </li>
    )
}

export function CompareOutput({ one, good }: { one: Execution, good: Execution }) {
    const [known, tell] = useState<Read | null>(null)
    const [problem, setProblem] = useState<Problem | null>(null)
    const [again, setAgain] = useState(0)
    useEffect(() => {
        const abort = new AbortController()
        read(one, good, abort.signal).then(found => (tell(found), setProblem(null)),
            why => abort.signal.aborted || setProblem(problemOf(why)))
        return () => abort.abort()
    }, [one.execution_id, good.execution_id, one.attempts.length, again])
    if (problem)
        return <ProblemBox problem={problem} retry={() => setAgain(again + 1)} />
    if (!known)
        return null
    const { diff, cut } = known
    return (
        <section class="panel">
            <h2>Output <span class="soft">{diff.hunks.length > 0 ? 'where it differs first' : ''}</span></h2>
            {diff.hunks.length === 0 && <p class="soft">{known.lines === 0 ? 'Neither printed anything.'
                : `${cut ? `The first ${LINES_MAX} lines are` : 'It is'} the same${
                    diff.noisy ? ', but for times, durations and ids' : ''}.`}</p>}
            {diff.hunks.map(hunk => <ol key={hunk[0].n + hunk[0].kind} class="compare-lines mono">
                {hunk.map(line => <Line key={`${line.kind} ${line.n}`} line={line} one={one} good={good} />)}
            </ol>)}
            {diff.hunks.length > 0 && <p class="soft small">
                − the other run, + this one. Times, durations and ids do not count.
                {diff.more && ' There are more differences.'}
                {cut && ` Of each, the first ${LINES_MAX} lines were compared.`}
            </p>}
        </section>
    )
}
