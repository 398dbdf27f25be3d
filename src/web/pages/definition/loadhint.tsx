// Other runs that are due when a schedule would run, in the same queue: a bar for each hour, and quieter times near by.
// The forecast is one for the queue, so that typing a schedule asks for nothing.
import type { Forecast } from 'openapi'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count, number } from '../../base/format'
import { exact } from '../../base/when'
import { now } from '../../live/live'
import { useSaid } from '../../parts/show/said'
import { Strip } from '../../parts/show/strip'
import { beginOf, hours, loadAt, quieter } from './load'

const EVERY_MS = 60_000
const LABEL_EVERY = 6

export function LoadHint({ queue, runs, zone, editing }: {
    queue: string, runs: readonly string[], zone: string, editing?: boolean,
}) {
    const begin = useSaid(() => String(beginOf(now.value)), [])
    const { data, problem } = useResource<Forecast>(may('GET', '/schedule/forecast') ? '/schedule/forecast' : null,
        { from: new Date(Number(begin)).toISOString(), step: '15m', queue }, { every: EVERY_MS, keep: true })
    const moments = runs.map(run => Date.parse(run))
    const load = data && moments.length > 0 ? loadAt(data, moments[0]) : null
    if (problem && !data)
        return <p class="soft">How busy it is then is not known: {problem.detail}</p>
    if (!data || !load)
        return null
    const clock = (ms: number) => exact(ms, zone, { day: false, seconds: false, label: false })
    const calm = quieter(data, moments[0])
    const cells = hours(data, moments).map((hour, i) => ({
        key: String(hour.at), value: hour.runs, isChosen: hour.isIts, label: i % LABEL_EVERY === 0 ? clock(hour.at)
            : undefined,
        title: `${clock(hour.at)}: ${count(hour.runs, 'run')}${hour.isIts ? ', and this job' : ''}`,
    }))
    return (
        <div class="cronfield-load">
            <p>At {clock(load.at)} {load.quarter === 0 ? 'nothing else is' : `${count(load.quarter, 'other run')} ${
                load.quarter === 1 ? 'is' : 'are'}`} due in the queue <code>{queue}</code> within the quarter of an
            hour, {number(load.hour)} within the hour{editing && ', its own runs included'}.
            {calm.length > 0 && <> Quieter: {calm.map(one => `${clock(one.at)} (${number(one.runs)})`).join(', ')}.</>}
            </p>
            <Strip cells={cells} label={`Runs of the queue ${queue} in the next 24 hours`} />
            <p class="soft small">Runs of the next 24 hours, by the hour; the hours of this job are marked.
                {data.truncated && ' There are more than could be counted.'}</p>
        </div>
    )
}
