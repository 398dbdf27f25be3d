// All of one alert: what happened, where to look, who looks after it.
import type { Alert } from 'openapi'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { part, printQuery } from '../../base/query'
import { Dialog } from '../../parts/ask/dialog'
import { Id } from '../../parts/show/id'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { stateOf } from './columns'

export function Whole({ alert, onClose, acknowledge, silence }: {
    alert: Alert, onClose: () => void, acknowledge: () => void, silence: () => void,
}) {
    return (
        <Dialog title={alert.kind.replace(/_/g, ' ')} onClose={onClose}>
            <p class="row"><Status state={alert.level} /> <Status state={stateOf(alert)} /></p>
            <p class="alert-text">{alert.text}</p>
            <dl class="alert-facts">
                <dt>Raised</dt><dd><Time at={alert.at} exactly />{alert.repeats > 0 &&
                    `, and ${count(alert.repeats, 'time')} since the one before`}</dd>
                <dt>Key</dt><dd><a href={`/alerts/all${printQuery({ key: alert.key })}`}>
                    <code>{alert.key}</code></a></dd>
                {alert.queue && <><dt>Queue</dt><dd><a href={`/queues/${part(alert.queue)}`}>{alert.queue}</a></dd></>}
                {alert.job_id && <><dt>Job</dt><dd><Id id={alert.job_id} href={`/jobs/${alert.job_id}`} /></dd></>}
                {alert.execution_id && <><dt>Execution</dt>
                    <dd><Id id={alert.execution_id} href={`/executions/${alert.execution_id}`} /></dd></>}
                {alert.silenced_by && <><dt>Silenced by</dt><dd><Id id={alert.silenced_by} /></dd></>}
                {alert.acknowledged_at && <><dt>Acknowledged</dt><dd><Time at={alert.acknowledged_at} /> by {
                    alert.acknowledged_by}{alert.note && `: ${alert.note}`}</dd></>}
            </dl>
            <div class="dialog-buttons">
                <button class="button" type="button" onClick={onClose}>Close</button>
                {may('POST', '/alerts/silences') && <button class="button" type="button" onClick={silence}>
                    Silence …</button>}
                {!alert.acknowledged_at && may('POST', '/alerts/{}/ack') && <button class="button main" type="button"
                    onClick={acknowledge}>Acknowledge …</button>}
            </div>
        </Dialog>
    )
}
