// Jobs around a job that wait for each other, from left to right. Every job is a link; Tab and arrows move among them.
import './graph.css'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Job, JobGraph } from 'openapi'
import { useResource } from '../../api/resource'
import { count, number, shortId } from '../../base/format'
import { query, setQuery } from '../../base/router'
import { state } from '../../base/states'
import { Field } from '../../parts/ask/field'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Shape } from '../../parts/show/status'
import { edgeKey, layOut, Place } from './layout'

type Node = JobGraph['nodes'][number]
type Edge = JobGraph['edges'][number]

const WIDTH = 178
const HEIGHT = 42
const GAP_X = 36 // five columns on a screen of 1280
const GAP_Y = 14
const DEPTHS = [1, 2, 3, 5, 10]

const nameOf = (node: Node) => node.name ?? shortId(node.job_id)
const NAME_CHARS = 20

/** Names of a pipeline differ at both ends. */
const short = (name: string) => name.length <= NAME_CHARS ? name
    : `${name.slice(0, NAME_CHARS / 2)}…${name.slice(1 - NAME_CHARS / 2)}`

const leftOf = (at: Place) => 8 + at.column * (WIDTH + GAP_X)
const topOf = (at: Place) => 8 + at.row * (HEIGHT + GAP_Y)

/** From the right of a job to the left of another one, level where it passes others. */
function pathOf(from: Place, passes: readonly Place[], to: Place): string {
    const yOf = (at: Place) => topOf(at) + HEIGHT / 2
    let path = `M${leftOf(from) + WIDTH} ${yOf(from)}`
    let [x, y] = [leftOf(from) + WIDTH, yOf(from)]
    for (const at of [...passes, to]) {
        const end = at === to ? leftOf(at) - 5 : leftOf(at)
        const bend = Math.max(GAP_X / 2, (end - x) / 2)
        path += `C${x + bend} ${y} ${end - bend} ${yOf(at)} ${end} ${yOf(at)}`
        if (at !== to)
            path += `H${end + WIDTH}`;
        [x, y] = [end + WIDTH, yOf(at)]
    }
    return path
}

function Line({ edge, path, names }: { edge: Edge, path: string, names: Map<string, string> }) {
    return (
        <path class={`graph-line graph-${edge.type} graph-${edge.state}`} marker-end="url(#graph-tip)" d={path}>
            <title>{`${names.get(edge.to)} waits for ${edge.type} of ${names.get(edge.from)}: ${
                edge.state.replace('_', ' ')}`}</title>
        </path>
    )
}

function Box({ node, at, isThis, waits }: { node: Node, at: Place, isThis: boolean, waits: string }) {
    const { hue, shape, word } = state(node.phase)
    return (
        <a href={`/jobs/${node.job_id}/graph`} aria-label={`${nameOf(node)}, ${word}${waits}`}
            aria-current={isThis ? 'true' : undefined} class="graph-node">
            <title>{nameOf(node)}</title>
            <rect x={leftOf(at)} y={topOf(at)} width={WIDTH} height={HEIGHT} rx="4" />
            <svg x={leftOf(at) + 8} y={topOf(at)} width={WIDTH - 16} height={HEIGHT}>
                <text x="0" y="17" class="graph-name">{short(nameOf(node))}</text>
                <g class={`hue-${hue}`}>
                    <svg x="0" y="24" width="12" height="12"><Shape shape={shape} /></svg>
                    <text x="17" y="34">{word}</text>
                </g>
            </svg>
        </a>
    )
}

function Drawing({ graph }: { graph: JobGraph }) {
    const box = useRef<HTMLDivElement>(null)
    const { places, passes } = useMemo(() => layOut(graph.nodes.map(node => node.job_id), graph.edges), [graph])
    const at = new Map(places.map(one => [one.id, one]))
    const names = new Map(graph.nodes.map(node => [node.job_id, nameOf(node)]))
    const width = 16 + Math.max(...places.map(leftOf)) + WIDTH
    const height = 16 + Math.max(...[...places, ...[...passes.values()].flat()].map(topOf)) + HEIGHT
    const shown = graph.edges.filter(edge => at.has(edge.from) && at.has(edge.to))
    const waits = (id: string) => {
        const list = shown.filter(edge => edge.to === id).map(edge => names.get(edge.from))
        return list.length === 0 ? '' : `, waits for ${list.slice(0, 5).join(', ')}${
            list.length > 5 ? ` and ${list.length - 5} more` : ''}`
    }
    useEffect(() => { // the job itself is in the middle
        const own = at.get(graph.job_id)!
        box.current!.scrollTo(leftOf(own) - box.current!.clientWidth / 2 + WIDTH / 2,
            topOf(own) - box.current!.clientHeight / 2)
    }, [graph.job_id])
    const onKeyDown = (event: KeyboardEvent) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
        const links = [...box.current!.querySelectorAll<SVGElement>('a')]
        const here = links.indexOf(event.target as SVGElement)
        if (!step || here < 0)
            return
        event.preventDefault()
        links[here + step]?.focus()
    }
    return (
        <div ref={box} class="graph" role="group" tabIndex={0} aria-label="Jobs, and who waits for whom"
            onKeyDown={onKeyDown}>
            <svg width={width} height={height}>
                <defs>
                    <marker id="graph-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"
                        orient="auto"><path d="M0 0 8 4 0 8Z" /></marker>
                </defs>
                {shown.map(edge => <Line key={edgeKey(edge)} edge={edge} names={names}
                    path={pathOf(at.get(edge.from)!, passes.get(edgeKey(edge)) ?? [], at.get(edge.to)!)} />)}
                {graph.nodes.map(node => <Box key={node.job_id} node={node} at={at.get(node.job_id)!}
                    isThis={node.job_id === graph.job_id} waits={waits(node.job_id)} />)}
            </svg>
        </div>
    )
}

export function Graph({ job }: { job: Job }) {
    const depth = DEPTHS.includes(Number(query.value.get('depth'))) ? query.value.get('depth')! : '3'
    const { data, problem, at, reload } = useResource<JobGraph>(`/jobs/${job.job_id}/graph`, { depth },
        { every: 5000, keep: true })
    if (data && data.nodes.length === 1)
        return <Empty title="It waits for no other job, and none waits for it."
            command={`belfry submit --after success:${job.job_id} -- echo next`}>
            The new job runs when this one has succeeded, and both are drawn here.
        </Empty>
    return (
        <div class="stack">
            <OldData problem={problem} at={at} retry={reload} />
            {data && <div class="row spread">
                <p>{count(data.nodes.length, 'job')}. The one at the right waits for the one at the left: for success
                    (a line), failure (dashes) or the end (dots).{' '}
                    {data.more && <strong>{data.hidden_is_minimum && 'At least '}{number(data.hidden)} more are next to
                        these.</strong>}</p>
                <Field name="Jobs away" value={depth} onInput={value => setQuery({ depth: value }, { replace: true })}
                    choices={DEPTHS.map(n => ({ value: String(n), name: String(n) }))} />
            </div>}
            {data && <Drawing graph={data} />}
        </div>
    )
}
