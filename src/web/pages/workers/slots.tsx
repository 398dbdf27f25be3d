// How many of its slots a worker uses: a bar and the numbers.
import './workers.css'
import type { Worker } from 'openapi'
import { number } from '../../base/format'

export function Slots({ worker: { busy, slots } }: { worker: Worker }) {
    return (
        <span class="slots">
            <span class="slots-bar" aria-hidden="true">
                <i style={{ width: `${Math.min(100, busy / slots * 100)}%` }} /></span>
            <span class="number">{number(busy)} of {number(slots)} busy</span>
        </span>
    )
}
