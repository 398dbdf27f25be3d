// The last hour of a queue, or of all together.
import { useMemo } from 'preact/hooks'
import { compact, duration } from '../../base/format'
import { printQuery } from '../../base/query'
import { go } from '../../base/router'
import { Chart, Line } from '../../parts/show/chart'
import { OldData } from '../../parts/show/problem'
import { perMinute, timesOf, useSeries, valuesOf } from './series'

type Loaded = ReturnType<typeof useSeries>
type Shape = [name: string, hue: string, series: Loaded, values?: typeof valuesOf]

const AROUND_MS = 60_000

function Panel({ title, lines, say, least, note, onPick }: {
    title: string, lines: Shape[], say: (value: number) => string, least?: number, note?: string,
    onPick?: (ms: number) => void,
}) {
    const [, , first] = lines[0]
    const times = useMemo(() => timesOf(first.data), [first.data])
    const drawn: Line[] = useMemo(() => lines.map(([name, hue, series, values = valuesOf]) =>
        ({ name, hue, values: values(series.data) })), lines.map(([, , series]) => series.data))
    return (
        <div class="panel">
            <OldData problem={first.problem} at={first.at} retry={first.reload} />
            <Chart title={title} times={times} lines={drawn} say={say} least={least} onPick={onPick}>
                {note ?? 'last hour'}</Chart>
        </div>
    )
}

/** What happened in a queue around a moment. */
const around = (queue: string | undefined, by: 'created' | 'finished') => (ms: number) =>
    go('/executions' + printQuery({ queue, [`${by}_after`]: new Date(ms - AROUND_MS).toISOString(),
        [`${by}_before`]: new Date(ms + AROUND_MS).toISOString() }))

export function DepthChart({ queue }: { queue?: string }) {
    const depth = useSeries('depth', queue)
    const running = useSeries('running', queue)
    return <Panel title="Depth" say={compact} onPick={around(queue, 'created')}
        lines={[['yet to run', 'wait', depth], ['running', 'busy', running]]} />
}

export function AgeChart({ queue }: { queue?: string }) {
    const age = useSeries('oldest_age', queue)
    return <Panel title="The oldest waits" say={duration} least={1000} lines={[['waited', 'late', age]]}
        onPick={around(queue, 'created')} />
}

export function LagChart({ queue }: { queue?: string }) {
    const p50 = useSeries('start_lag_p50', queue)
    const p99 = useSeries('start_lag_p99', queue)
    return <Panel title="From ready to started" say={duration} least={20} onPick={around(queue, 'finished')}
        lines={[['half within', 'busy', p50], ['99 % within', 'hold', p99]]} />
}

export function EndsChart({ queue }: { queue?: string }) {
    const completed = useSeries('completed', queue)
    const failed = useSeries('failed', queue)
    return <Panel title="Ends a minute" say={value => `${compact(value)}/min`} onPick={around(queue, 'finished')}
        lines={[['completed', 'good', completed, perMinute], ['failed', 'bad', failed, perMinute]]} />
}
