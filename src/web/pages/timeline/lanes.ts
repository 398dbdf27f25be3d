// The lanes of an answer, with what lies ahead in them; and what it says in a sentence. Pure.
import type { Timeline } from 'openapi'
import { count, number } from '../../base/format'
import { part } from '../../base/query'
import { Lane, lateBy, Run } from './layout'

const nobody = (key: string, name: string): Lane =>
    ({ key, name, href: null, executions: 0, failed: 0, bars: [], runs: [], rest: [] })

/** `nameOf` knows the workers that are there. */
export function lanesOf(data: Timeline, nameOf: (worker: string) => string | null): Lane[] {
    const lanes = new Map<string, Lane>()
    for (const { queue, worker_id: worker, ...rest } of data.lanes) {
        const key = queue ?? worker ?? ''
        lanes.set(key, { ...nobody(key, queue ?? (worker ? nameOf(worker) ?? worker : 'by whom is not known')), ...rest,
            href: queue !== undefined ? `/queues/${part(queue)}` : worker ? `/workers/${worker}` : null })
    }
    const ahead = new Map<string, Run[]>()
    for (const run of data.ahead?.runs ?? []) {
        const key = data.by === 'queue' ? run.queue : 'ahead'
        const runs = ahead.get(key) ?? []
        runs.push(run)
        ahead.set(key, runs)
    }
    for (const [key, runs] of ahead) {
        const known = lanes.get(key) ?? (data.by === 'queue'
            ? { ...nobody(key, key), href: `/queues/${part(key)}` } : nobody(key, 'Ahead: nobody has taken them'))
        lanes.set(key, { ...known, runs })
    }
    const sorted = [...lanes.values()].sort((a, b) => a.key === 'ahead' ? 1 : b.key === 'ahead' ? -1
        : a.name.localeCompare(b.name))
    const rest = data.ahead?.rest ?? []
    if (rest.length > 0)
        sorted.push({ ...nobody('more', 'More runs ahead'),
            rest: rest.map(one => ({ at: one.at, executions: one.runs, failed: 0 })) })
    return sorted
}

export function sentence(data: Timeline): string {
    const bars = data.lanes.flatMap(lane => lane.bars)
    const failed = data.lanes.reduce((sum, lane) => sum + lane.failed, 0)
    const late = bars.filter(bar => lateBy(bar) > 0).length
    const running = bars.filter(bar => bar.finished_at === null).length
    const said = [data.executions === 0 ? 'Nothing ran here'
        : `${count(data.executions, 'execution')} ran here: ${failed === 0 ? 'none' : number(failed)} failed`]
    if (late > 0)
        said.push(`${data.shown < data.executions ? 'of the longest ' : ''}${number(late)} began late`)
    if (running > 0)
        said.push(`${number(running)} ${running === 1 ? 'runs' : 'run'} now`)
    const ahead = data.ahead?.count ?? 0
    return said.join(', ') + (data.ahead ? `; ${ahead === 0 ? 'nothing is'
        : `${number(ahead)}${data.ahead.truncated ? ' or more' : ''} ${ahead === 1 ? 'is' : 'are'}`} ahead.` : '.')
}

/** What is not drawn by itself, or null. */
export function missing(data: Timeline): string | null {
    const said: string[] = []
    if (data.shown < data.executions)
        said.push(`Of ${number(data.executions)} executions the ${number(data.shown)} longest are bars; blocks count ` +
            'the others: zoom in.')
    if (data.left_out > 0)
        said.push(`${count(data.left_out, 'execution')} in ${number(data.lane_count - data.lanes.length)} quieter ${
            data.by}s are not shown.`)
    if (data.truncated)
        said.push('More ran than the server looks at for a picture: a shorter stretch shows all.')
    return said.length > 0 ? said.join(' ') : null
}
