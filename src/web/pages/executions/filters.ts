// The filters of the list of executions, in the address as in the call. Times may be told as "2h": since two hours.
import type { Query } from '../../base/query'
import { query } from '../../base/router'
import { Filter, readFilters } from '../../parts/list/filters'

export const statuses = ['running', 'queued', 'scheduled', 'blocked', 'retrying', 'completed', 'failed', 'timeout',
    'cancelled', 'skipped', 'expired', 'deduplicated'] as const
export const classes = ['timeout', 'out_of_memory', 'permission_error', 'network_error', 'not_found', 'disk_error',
    'killed', 'crashed', 'lost_worker', 'user_error', 'unknown'] as const

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

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A moment as the API takes it. "2h" is told by the minute, so that a list does not change with each second; what
 *  is no time is left for the server to refuse. */
export function momentOf(text: string, now: number): string {
    const length = /^(\d+)([smhdw])$/.exec(text.trim())
    if (length)
        return new Date(Math.floor(now / 60_000) * 60_000 - Number(length[1]) * UNIT_MS[length[2]]).toISOString()
    const ms = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.trim().replace(' ', 'T')}Z`)
    return Number.isNaN(ms) ? text : new Date(ms).toISOString()
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
