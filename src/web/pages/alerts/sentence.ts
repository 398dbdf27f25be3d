// Open alerts in a sentence. Pure.
import type { Alert } from 'openapi'
import { count, number } from '../../base/format'

export function sentence(alerts: readonly Pick<Alert, 'level' | 'text'>[], hasMore: boolean): string {
    const critical = alerts.filter(alert => alert.level === 'critical').length
    const head = `${hasMore ? 'More than ' : ''}${count(alerts.length, 'alert')} ${
        alerts.length === 1 ? 'waits' : 'wait'} for somebody to look after ${alerts.length === 1 ? 'it' : 'them'}`
    if (critical === 0)
        return `${head}.`
    return `${head}, ${critical === alerts.length && alerts.length > 1 ? 'all' : number(critical)} of them critical.`
}
