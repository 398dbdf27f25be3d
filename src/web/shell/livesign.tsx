// Whether what is shown is live: a shape and a word, and since when it is not.
import './livesign.css'
import { zoneChoice } from '../base/zone'
import { exact, pickZone } from '../base/when'
import { awayWhy, byServer, liveState, tickAt } from '../live/live'

const words = { starting: 'connecting', live: 'live', old: 'old', away: 'away' }

export function LiveSign() {
    const state = liveState.value
    const since = tickAt.value === null ? '' : exact(byServer(tickAt.value), pickZone(zoneChoice.value), { day: false })
    const told = state === 'live' ? 'Numbers come each second.'
        : state === 'starting' ? 'The first numbers are on their way.'
            : `${awayWhy.value ?? 'No numbers have come'}${since && `; what is shown is of ${since}`}`
    return (
        <span class={`live live-${state}`} role="status" title={told}>
            <span class="live-dot" aria-hidden="true" />
            {words[state]}
            {(state === 'old' || state === 'away') && since && <span class="live-since number">{since}</span>}
        </span>
    )
}
