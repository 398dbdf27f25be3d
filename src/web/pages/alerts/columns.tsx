// The columns of the list of alerts.
import type { Alert } from 'openapi'
import { number } from '../../base/format'
import type { Column } from '../../parts/list/table'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'

/** Whether somebody looks after it weighs more than what became of its delivery. */
export const stateOf = (alert: Alert) => alert.acknowledged_at ? 'acknowledged' : alert.state

const whoOf = ({ acknowledged_by: who, note }: Alert) => who ? `by ${who}${note ? `: ${note}` : ''}` : undefined

export const columns: Column<Alert>[] = [
    { key: 'level', name: 'Level', width: '92px', card: 'state', cell: alert => <Status state={alert.level} /> },
    { key: 'text', name: 'What', card: 'title', cell: alert => <span title={alert.text}>{alert.text}</span> },
    { key: 'key', name: 'Key', width: '18%', card: 'note', cell: alert => <code title={alert.key}>{alert.key}</code> },
    { key: 'repeats', name: 'Repeats', width: '76px', align: 'end',
        cell: alert => alert.repeats > 0 ? number(alert.repeats) : '' },
    { key: 'state', name: 'State', width: '130px',
        cell: alert => <Status state={stateOf(alert)} title={whoOf(alert)} /> },
    { key: 'at', name: 'Raised', width: '112px', card: 'time', cell: alert => <Time at={alert.at} /> },
]
