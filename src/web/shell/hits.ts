// Hits for the text of the search: pages, things by their id or a part of it, jobs by the beginning of their name,
// and what may be done with a job ("pause nightly").
import { useEffect, useState } from 'preact/hooks'
import type { ExecutionList, JobList } from 'openapi'
import { useResource } from '../api/resource'
import { matchPath, part } from '../base/query'
import { address, go } from '../base/router'
import { anywhere } from './anywhere'
import { deeds, JobDeed } from './deeds'
import { offered } from './routes'

export interface Hit { key: string, name: string, kind: string, run: () => void, phase?: string }

const PAUSE_MS = 150 // typing is not yet asking
const SHOWN_MAX = 8
export const NEWEST = 500 // among so many a part of an id is looked for: the API has no such search

const whole = /^(job|exec|op)_[0-9a-z]{13}$/
const folders: Record<string, string> = { job: 'jobs', exec: 'executions', op: 'operations' }

/** A star in a name would be any text. */
const prefix = (text: string) => text.replace(/[\\*]/g, '\\$&') + '*'

/** The end of an id as pages show it (job_…4jh80c), or its beginning, or what lies between. */
const partOf = (text: string) => /^(?:(?:job|exec)_)?…?([0-9a-z]{4,13})$/.exec(text)?.[1] ?? null

function useAsked(text: string): string {
    const [asked, ask] = useState('')
    useEffect(() => {
        const timer = setTimeout(() => ask(text), PAUSE_MS)
        return () => clearTimeout(timer)
    }, [text])
    return asked
}

const open = (key: string, name: string, kind: string, href: string, phase?: string): Hit =>
    ({ key, name, kind, phase, run: () => go(href) })

function byParts(text: string, jobs: JobList | null, executions: ExecutionList | null): Hit[] {
    const wanted = partOf(text)
    if (wanted === null)
        return []
    return [
        ...(jobs?.jobs ?? []).filter(job => job.job_id.slice(4).includes(wanted)).slice(0, SHOWN_MAX).map(job =>
            open(job.job_id, `${job.name ?? 'job'} ${job.job_id}`, 'job', `/jobs/${job.job_id}`, job.phase)),
        ...(executions?.executions ?? []).filter(one => one.execution_id.slice(5).includes(wanted)).slice(0, SHOWN_MAX)
            .map(one => open(one.execution_id, one.execution_id, 'execution', `/executions/${one.execution_id}`,
                one.status)),
    ]
}

/** Of the page that is open, if it is a job's. */
function onThisJob(text: string): Hit[] {
    const here = matchPath('/jobs/:id/:tab?', address.value.path)
    if (!here)
        return []
    return deeds().filter(deed => `${deed.word} this job`.includes(text)).map(deed => ({
        key: `${deed.word} this`, name: `${deed.verb} this job`, kind: 'action',
        run: () => void deed.run({ id: here.id, name: document.querySelector('#main h1')?.textContent ?? here.id }),
    }))
}

export function useHits(typed: string): Hit[] {
    const [first, ...rest] = typed.split(/\s+/)
    const deed: JobDeed | undefined = rest.length > 0 ? deeds().find(one => one.word === first) : undefined
    const text = deed ? typed.slice(first.length).trim() : typed
    const asked = useAsked(text)
    const isWhole = whole.test(text)
    const least = deed ? 1 : 2 // letters of a name
    const isPart = !isWhole && partOf(asked) !== null
    const named = useResource<JobList>(asked.length < least || isWhole ? null : '/jobs',
        { name: prefix(asked), limit: SHOWN_MAX, fields: 'job_id,name,phase' }, { keep: true })
    const jobs = useResource<JobList>(isPart ? '/jobs' : null, { limit: NEWEST, fields: 'job_id,name,phase' })
    const executions = useResource<ExecutionList>(isPart && !deed ? '/executions' : null,
        { limit: NEWEST, fields: 'execution_id,status' })
    const found = text.length < least ? [] : named.data?.jobs ?? []
    const lower = typed.toLowerCase()
    if (deed)
        return [...onThisJob(lower), ...found.map(job => ({
            key: `${deed.word} ${job.job_id}`, name: `${deed.verb} ${job.name ?? job.job_id}`, kind: 'action',
            phase: job.phase, run: () => void deed.run({ id: job.job_id, name: String(job.name ?? job.job_id) }),
        }))]
    const hits = [
        ...offered().filter(noun => noun.name.toLowerCase().includes(lower)).map(noun =>
            open(noun.path, noun.name, 'page', noun.path)),
        ...onThisJob(lower),
        ...anywhere().filter(one => lower && one.name.toLowerCase().includes(lower)).map(one =>
            ({ key: one.name, ...one })),
        ...found.map(job => open(job.job_id, String(job.name ?? job.job_id), 'job', `/jobs/${job.job_id}`, job.phase)),
        ...(isPart ? byParts(text, jobs.data, executions.data) : []),
    ]
    if (isWhole)
        hits.unshift(open(text, text, 'by its id', `/${folders[text.split('_')[0]]}/${part(text)}`))
    const seen = new Set<string>()
    return hits.filter(hit => !seen.has(hit.key) && seen.add(hit.key))
}
