// The filters of the list of executions, in the address as in the call. Times may be told as "2h": since two hours.
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { momentOf } from '../../base/moment'
import type { Query } from '../../base/query'
import { query } from '../../base/router'
import { now } from '../../live/live'
import { Filter, readFilters } from '../../parts/list/filters'
import { classes } from '../common/classes'

const statuses = ['running', 'queued', 'scheduled', 'blocked', 'retrying', 'completed', 'failed', 'timeout',
    'cancelled', 'skipped', 'expired', 'deduplicated'] as const

const times: Filter[] = ([['created', 'Created'], ['started', 'Started'], ['finished', 'Finished']] as const)
    .flatMap(([name, label]) => [
        { name: `${name}_after`, label: `${label} since`, placeholder: '2h, 7d or a time' },
        { name: `${name}_before`, label: `${label} before`, placeholder: '2h, 7d or a time' },
    ])

export const filters: Filter[] = [
    { name: 'name', label: 'Job', first: true, placeholder: 'Job begins with …' },
    { name: 'status', label: 'Status', words: statuses, many: true },
    { name: 'class', label: 'Error class', words: classes },
    { name: 'queue', label: 'Queue', many: true },
    { name: 'job', label: 'Job id' },
    { name: 'worker', label: 'Worker' },
    { name: 'fingerprint', label: 'Fingerprint', placeholder: 'of failures of one kind' },
    { name: 'tag', label: 'Tag', placeholder: 'key:value', many: true },
    { name: 'owner', label: 'Owner' },
    { name: 'team', label: 'Team' },
    ...times,
]

const MINUTE_MS = 60_000

/** From when "2h" is counted: anew with each minute, unless rows are held, since they were picked or there are many. */
export function useMinute(held: RefObject<boolean>): number {
    const [at, set] = useState(() => now.peek())
    useEffect(() => {
        const timer = setInterval(() => {
            if (!held.current)
                set(now.peek())
        }, MINUTE_MS)
        return () => clearInterval(timer)
    }, [])
    return at
}

/** As the call wants it: a name without a star is the beginning of one. */
export function askedFor(now: number): Query {
    const found: Query = readFilters(filters)
    const name = query.value.get('name')
    if (name)
        found.name = name.includes('*') ? name : `${name}*`
    for (const { name: time } of times) {
        const text = query.value.get(time)
        if (text)
            found[time] = momentOf(text, now)
    }
    return found
}
