// How many runs failed lately: in the last hour, as servers remember it. What they do not remember, since they were
// started meanwhile, is told by the reports, which know whole hours.
import type { Series } from 'openapi'
import { useResource } from '../../api/resource'
import { printQuery } from '../../base/query'
import { exact, parse, pickZone } from '../../base/when'
import { zoneChoice } from '../../base/zone'
import { useSeries } from './series'

export interface Failures {
    /** null: it is not known yet. */
    count: number | null
    /** "in the last hour", "since 03:00 UTC" */
    when: string
    usualPerHour: number | null
    href: string
}

const sumOf = (series: Series | null) => series?.points.reduce((sum, point) => sum + (point.value ?? 0), 0) ?? null

const listOf = (after: string) =>
    '/executions' + printQuery({ status: ['failed', 'timeout'], finished_after: after })

export function useFailures(): Failures {
    const last = useSeries('failed').data
    // The newest step may not be over everywhere.
    const hasGap = !!last && last.points.slice(0, -3).some(point => point.value === null)
    const hours = useResource<Series>(hasGap ? '/series' : null, { metric: 'failed', since: '2h' },
        { every: 10_000 }).data
    const usualPerHour = last?.usual_per_hour ?? null
    if (!hasGap)
        return { count: sumOf(last), when: 'in the last hour', usualPerHour, href: listOf('1h') }
    const since = parse(hours?.from)
    return {
        count: sumOf(hours), usualPerHour: null, href: since === null ? listOf('2h') : listOf(hours!.from),
        when: since === null ? 'lately'
            : `since ${exact(since, pickZone(zoneChoice.value), { day: false, seconds: false })}`,
    }
}
