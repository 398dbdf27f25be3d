// What is going on: in a sentence, in numbers, over the last hour and the next ones.
import './overview.css'
import type { Blockers } from 'openapi'
import { useResource } from '../../api/resource'
import { liveState, tick } from '../../live/live'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { useSeries } from '../common/series'
import { Rates, StartLag } from './charts'
import { Numbers } from './numbers'
import { Alerts, Machines, NextHours, Waits } from './panels'
import { isMoreThanUsual, sentence } from './sentence'

export default function Overview() {
    const numbers = tick.value
    const blockers = useResource<Blockers>('/stats/blockers', {}, { every: 3000 })
    const failures = useSeries('failed')
    const points = failures.data?.points.filter(point => point.value !== null) ?? []
    const failed = points.length === 0 ? null : points.reduce((sum, point) => sum + point.value!, 0)
    const usual = failures.data?.usual_per_hour ?? null
    const isOld = liveState.value === 'old' || liveState.value === 'away'
    const isNew = numbers && Object.values(numbers.jobs).every(n => n === 0)
    const isWrong = failed !== null && isMoreThanUsual(failed, usual)
    return (
        <div class="stack">
            <h1 class="hidden-text" tabIndex={-1}>Overview</h1>
            <p class={`overview-sentence${isWrong ? ' is-wrong' : ''}${isOld ? ' is-old' : ''}`}>
                {numbers && blockers.data && sentence({
                    running: numbers.executions.running, failedLastHour: failed, usualPerHour: usual,
                    blockers: blockers.data.blockers, workers: numbers.workers.count,
                }).map(({ text, href }, i) => href ? <a key={i} href={href}>{text}</a> : text)}
            </p>
            <OldData problem={blockers.problem} at={blockers.at} retry={blockers.reload} />
            {isNew && <Empty title="Nothing has been submitted yet."
                command="belfry submit --name hello -- echo hello">
                The numbers below begin to move, and the job is under <a href="/jobs">Jobs</a>.
            </Empty>}
            {numbers && <div class={isOld ? 'is-old' : ''}>
                <Numbers tick={numbers} failed={failed} usual={usual} />
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
