// The overview: how things stand in a sentence, in numbers, over the last hour and the next ones.
import './overview.css'
import type { Blockers } from 'openapi'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { liveState, tick } from '../../live/live'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { useFailures } from '../common/failures'
import { Rates, StartLag } from './charts'
import { Numbers } from './numbers'
import { Alerts, Machines, NextHours, Waits } from './panels'
import { isMoreThanUsual, sentence } from './sentence'

export default function Overview() {
    const numbers = tick.value
    const blockers = useResource<Blockers>('/stats/blockers', {}, { every: 3000 })
    const failed = useFailures()
    const isOld = liveState.value === 'old' || liveState.value === 'away'
    const isNew = numbers && Object.values(numbers.jobs).every(n => n === 0)
    const isWrong = isMoreThanUsual(failed)
    return (
        <div class="stack">
            <h1 class="hidden-text" tabIndex={-1}>Overview</h1>
            <p class={`overview-sentence${isWrong ? ' is-wrong' : ''}${isOld ? ' is-old' : ''}`}>
                {numbers && blockers.data && sentence({
                    running: numbers.executions.running, failed,
                    blockers: blockers.data.blockers, workers: numbers.workers.count,
                }).map(({ text, href }, i) => href ? <a key={i} href={href}>{text}</a> : text)}
            </p>
            <OldData problem={blockers.problem} at={blockers.at} retry={blockers.reload} />
            {isNew && <Empty title="Nothing has been submitted yet."
                command="belfry submit --name hello -- echo hello">
                The numbers below begin to move, and the job is under <a href="/jobs">Jobs</a>.
                {may('POST', '/jobs') && <> Or fill in a form: <a href="/jobs/new">New job</a>.</>}
            </Empty>}
            {numbers && <div class={isOld ? 'is-old' : ''}>
                <Numbers tick={numbers} failed={failed} />
            </div>}
            <div class="grid"><Rates /><StartLag /></div>
            <NextHours />
            <div class="grid">
                <Waits blockers={blockers.data} />
                <Alerts />
                <Machines tick={numbers} />
            </div>
        </div>
    )
}
