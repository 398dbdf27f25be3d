// Lines over time: from zero, with their unit, gaps as gaps. Hover reads all lines, a click tells the moment.
import './chart.css'
import UPlot from 'uplot'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isDark } from '../../base/choices'
import { compact } from '../../base/format'
import { exact, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'

/** `hue` is a variable of style/variables.css without its dashes; a dashed line is what is usual, or a limit. */
export interface Line { name: string, hue: string, values: (number | null)[], dashed?: boolean }

interface ChartProps {
    title: string
    /** Of the points, in milliseconds. */
    times: number[]
    lines: Line[]
    /** How a value is said, with its unit. */
    say?: (value: number) => string
    height?: number
    /** The axis goes at least so far. */
    least?: number
    onPick?: (ms: number) => void
    children?: ComponentChildren // behind the title: its window, say
}

const STEPS_S = [60, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800]

const styleOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

/** A canvas knows no light-dark(): a colour is what an element of it would have. */
function colour(name: string): string {
    const probe = document.createElement('span')
    probe.style.color = `var(--${name})`
    document.body.append(probe)
    const said = getComputedStyle(probe).color
    probe.remove()
    return said
}

/** Points between two gaps, which no line would show. */
function lonely(chart: UPlot, line: number): number[] {
    const values = chart.data[line]
    const found: number[] = []
    for (let i = 0; i < values.length; i++) {
        if (values[i] != null && values[i - 1] == null && values[i + 1] == null)
            found.push(i)
    }
    return found
}

/** Of the axis at the left: as much as its longest words take. */
const room = (_: UPlot, words: string[] | null) =>
    Math.max(54, 12 + 7 * Math.max(0, ...(words ?? []).map(word => word?.length ?? 0)))

function make(box: HTMLElement, props: ChartProps, zone: string, read: (at: number | null) => void): UPlot {
    const { times, lines, say = compact, height = 120, least = 1 } = props
    const axis = { stroke: colour('ink-soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false },
        font: `${styleOf('size-small')} ${styleOf('font')}` }
    const clock = (s: number) => exact(s * 1000, zone, { day: false, seconds: false, label: false })
    return new UPlot({
        width: Math.max(box.clientWidth, 60), height,
        legend: { show: false },
        cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max ?? 0, least) * 1.08] } },
        axes: [
            { ...axis, size: 22, space: 60, incrs: STEPS_S, values: (_, at) => at.map(clock) },
            { ...axis, size: room, space: 28, values: (_, at) => at.map(say) },
        ],
        series: [{}, ...lines.map(line => ({
            stroke: colour(line.hue), width: 1.5, dash: line.dashed ? [4, 4] : undefined, spanGaps: false,
            points: { show: true, size: 4, filter: lonely },
        }))],
        hooks: { setCursor: [chart => read(chart.cursor.idx ?? null)] },
    }, [times.map(ms => ms / 1000), ...lines.map(line => line.values)] as UPlot.AlignedData, box)
}

export function Chart(props: ChartProps) {
    const { title, times, lines, say = compact, onPick } = props
    const box = useRef<HTMLDivElement>(null)
    const [at, read] = useState<number | null>(null)
    const zone = pickZone(zoneChoice.value)
    const chart = useRef<UPlot | null>(null)
    const look = `${isDark.value} ${zone} ${props.height} ${lines.map(line => line.name + line.hue).join()}`

    useEffect(() => {
        const made = chart.current = make(box.current!, props, zone, read)
        const sizes = new ResizeObserver(() => box.current &&
            made.setSize({ width: Math.max(box.current.clientWidth, 60), height: made.height }))
        sizes.observe(box.current!)
        return () => {
            sizes.disconnect()
            made.destroy()
        }
    }, [look])
    useEffect(() => {
        chart.current?.setData([times.map(ms => ms / 1000), ...lines.map(line => line.values)] as UPlot.AlignedData)
    }, [times, lines])

    const shown = at !== null && at < times.length ? at : times.length - 1
    const valueOf = (line: Line) => {
        const value = line.values[shown]
        return value === null || value === undefined ? '–' : say(value)
    }
    return (
        <figure class="chart">
            <figcaption class="row spread">
                <span class="row"><strong>{title}</strong> <span class="soft small">{props.children}</span></span>
                <span class="chart-values number small">
                    {lines.map(line => <span key={line.name}>
                        <i class={line.dashed ? 'chart-dash' : ''} style={{ borderColor: `var(--${line.hue})` }} />
                        {line.name} <b>{valueOf(line)}</b>
                    </span>)}
                    <span class="soft">{times[shown] !== undefined && exact(times[shown], zone, { day: false })}</span>
                </span>
            </figcaption>
            <div ref={box} class={`chart-box${onPick ? ' chart-picks' : ''}`} aria-hidden="true"
                onClick={() => onPick && at !== null && times[at] !== undefined && onPick(times[at])} />
        </figure>
    )
}
