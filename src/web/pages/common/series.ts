// How a number went over the last hour, of everything or of one queue.
import type { Series } from 'openapi'
import { useResource } from '../../api/resource'
import { parse } from '../../base/when'

const EVERY_MS = 10_000

export function useSeries(metric: string, queue?: string) {
    return useResource<Series>('/series', { metric, queue, since: '1h' }, { every: EVERY_MS })
}

export const timesOf = (series: Series | null) => series?.points.map(point => parse(point.at) ?? 0) ?? []
export const valuesOf = (series: Series | null) => series?.points.map(point => point.value) ?? []
export const perMinute = (series: Series | null) =>
    series?.points.map(point => point.value === null ? null : point.value * 60_000 / series.step_ms) ?? []
