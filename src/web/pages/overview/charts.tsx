// The last hour: how much begins and ends, and how long it takes to start.
import { useMemo } from 'preact/hooks'
import { compact, duration } from '../../base/format'
import { go } from '../../base/router'
import { Chart } from '../../parts/show/chart'
import { OldData } from '../../parts/show/problem'
import { perMinute, timesOf, useSeries, valuesOf } from '../common/series'

const around = (ms: number) => {
    const from = new Date(ms - 60_000).toISOString()
    go(`/executions?finished_after=${from}&finished_before=${new Date(ms + 60_000).toISOString()}`)
}

export function Rates() {
    const completed = useSeries('completed')
    const failed = useSeries('failed')
    const started = useSeries('started')
    const times = useMemo(() => timesOf(completed.data), [completed.data])
    const lines = useMemo(() => [
        { name: 'started', hue: 'busy', values: perMinute(started.data), dashed: true },
        { name: 'completed', hue: 'good', values: perMinute(completed.data) },
        { name: 'failed', hue: 'bad', values: perMinute(failed.data) },
    ], [started.data, completed.data, failed.data])
    return (
        <div class="panel">
            <OldData problem={completed.problem} at={completed.at} retry={completed.reload} />
            <Chart title="Runs a minute" times={times} lines={lines} say={value => `${compact(value)}/min`}
                onPick={around}>last hour</Chart>
        </div>
    )
}

export function StartLag() {
    const p50 = useSeries('start_lag_p50')
    const p99 = useSeries('start_lag_p99')
    const times = useMemo(() => timesOf(p50.data), [p50.data])
    const lines = useMemo(() => [
        { name: 'half within', hue: 'busy', values: valuesOf(p50.data) },
        { name: '99 % within', hue: 'hold', values: valuesOf(p99.data) },
    ], [p50.data, p99.data])
    return (
        <div class="panel">
            <OldData problem={p50.problem} at={p50.at} retry={p50.reload} />
            <Chart title="From ready to started" times={times} lines={lines} say={duration} least={20}>last hour</Chart>
        </div>
    )
}
