// Facts about two executions, side by side.
import type { ComponentChildren } from 'preact'
import type { Attempt, Execution, JobVersion, Worker } from 'openapi'
import { parse } from '../../base/when'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Duration, Time } from '../../parts/show/time'
import { same } from '../definition/document'

const newest = (one: Execution): Attempt | undefined => one.attempts[one.attempts.length - 1]

/** The definition that it began with, by when each was made; null: that is not known. */
export function versionOf(one: Execution, versions: readonly JobVersion[]): JobVersion | null {
    const began = parse(one.started_at) ?? parse(one.created_at)!
    return versions.find(version => parse(version.at)! <= began) ?? null
}

const payloadOf = (one: Execution, version: JobVersion | null): unknown =>
    one.payload ?? version?.document.payload ?? null

/** From when it should have begun to when it first did. */
const delayOf = (one: Execution): number | null => {
    const began = parse(one.attempts[0]?.started_at ?? one.started_at)
    const due = parse(one.origin === 'slot' && !one.retry_of ? one.slot : one.created_at)
    return began === null || due === null ? null : Math.max(0, began - due)
}

function times(now: number | null, before: number | null): string | null {
    if (!now || !before || now / before < 1.2 && before / now < 1.2)
        return null
    const share = now / before
    return share >= 1 ? `${share.toFixed(share < 10 ? 1 : 0)} times as long`
        : `${(1 / share).toFixed(1 / share < 10 ? 1 : 0)} times as fast`
}

const exit = (one: Execution) => {
    const last = newest(one)
    return !last ? '–' : last.signal !== null ? `signal ${last.signal}` : String(last.exit_code ?? '–')
}

interface Fact { name: string, of: (one: Execution) => ComponentChildren, differs: boolean, note?: string | null }

/** What else is known of them. */
export interface Known { versions: readonly JobVersion[], workers: readonly Worker[] }

/** What is told of both, and whether it differs. */
export function factsOf(one: Execution, good: Execution, { versions, workers }: Known): Fact[] {
    const [mine, its] = [versionOf(one, versions), versionOf(good, versions)]
    const delays = [delayOf(one), delayOf(good)]
    const worker = (run: Execution) => newest(run)?.worker_id ?? run.worker_id
    const nameOf = (run: Execution) => workers.find(known => known.worker_id === worker(run))?.name ?? null
    const said = (ms: number | null) => ms === null ? '–' : <Duration ms={ms} />
    return [
        { name: 'State', of: run => <Status state={run.status} />, differs: one.status !== good.status },
        { name: 'Definition', differs: mine?.version !== its?.version,
            of: run => {
                const version = versionOf(run, versions)
                return version ? `version ${version.version}` : 'not kept'
            } },
        { name: 'Payload', differs: !same(payloadOf(one, mine), payloadOf(good, its)),
            of: run => payloadOf(run, versionOf(run, versions)) === null ? 'none'
                : run.payload !== null ? 'its own' : 'that of the job' },
        { name: 'Worker', differs: (nameOf(one) ?? worker(one)) !== (nameOf(good) ?? worker(good)),
            of: run => nameOf(run) ? <a href={`/workers/${worker(run)}`}>{nameOf(run)}</a>
                : worker(run) ? <Id id={worker(run)!} href={`/workers/${worker(run)}`} /> : '–' },
        { name: 'Queue', differs: one.queue !== good.queue, of: run => <code>{run.queue}</code> },
        { name: 'Began', differs: false, of: run => <Time at={run.started_at} exactly /> },
        { name: 'Delay of the start', of: run => said(delayOf(run)),
            differs: Math.abs((delays[0] ?? 0) - (delays[1] ?? 0)) > 1000 },
        { name: 'Took', of: run => <Duration ms={run.duration_ms} />, note: times(one.duration_ms, good.duration_ms),
            differs: times(one.duration_ms, good.duration_ms) !== null },
        { name: 'Attempts', of: run => run.attempt_count, differs: one.attempt_count !== good.attempt_count },
        { name: 'Exit code', of: exit, differs: exit(one) !== exit(good) },
    ]
}
