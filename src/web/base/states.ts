// Every word that says how something is: its shape, what it is called, and its hue. Colour is never the
// only sign. `hue` names a variable of style/variables.css.

export type Hue = 'good' | 'bad' | 'busy' | 'wait' | 'hold' | 'retry' | 'late'

export interface State {
    word: string
    hue: Hue
    shape: Shape
}

/** Drawn in a box of 12 by 12 (parts/show/status.tsx), since fonts differ in such signs. */
export const shapes = {
    check: 'M2 6.5 5 9.5 10 3',
    cross: 'M3 3 9 9M9 3 3 9',
    disc: 'M6 2.5a3.5 3.5 0 1 0 .01 0Z',
    ring: 'M6 2.5a3.5 3.5 0 1 0 .01 0Z',
    bars: 'M4 2.5v7M8 2.5v7',
    again: 'M10 6a4 4 0 1 1-1.2-2.8M10 1v2.5H7.5',
    slash: 'M6 2a4 4 0 1 0 .01 0ZM3.2 8.8 8.8 3.2',
    clock: 'M6 2a4 4 0 1 0 .01 0ZM6 3.8V6l1.6 1.2',
    square: 'M3 3h6v6H3Z',
    dash: 'M2.5 6h7',
} as const
export type Shape = keyof typeof shapes

const rows: [string, string, Hue, Shape][] = [
    ['completed', 'completed', 'good', 'check'],
    ['succeeded', 'succeeded', 'good', 'check'],
    ['failed', 'failed', 'bad', 'cross'],
    ['permanent', 'failed for good', 'bad', 'cross'],
    ['lost', 'lost', 'bad', 'cross'],
    ['timeout', 'timeout', 'bad', 'clock'],
    ['running', 'running', 'busy', 'disc'],
    ['active', 'active', 'busy', 'ring'],
    ['queued', 'waiting', 'wait', 'ring'],
    ['waiting', 'waiting', 'wait', 'ring'],
    ['scheduled', 'scheduled', 'wait', 'clock'],
    ['planned', 'planned', 'wait', 'clock'],
    ['blocked', 'blocked', 'wait', 'square'],
    ['paused', 'paused', 'hold', 'bars'],
    ['retrying', 'retrying', 'retry', 'again'],
    ['returned', 'returned', 'retry', 'again'],
    ['skipped', 'skipped', 'wait', 'slash'],
    ['cancelled', 'cancelled', 'wait', 'slash'],
    ['stopped', 'stopped', 'wait', 'slash'],
    ['expired', 'expired', 'late', 'clock'],
    ['deduplicated', 'done before', 'wait', 'dash'],
    ['fired', 'fired', 'good', 'check'],
    ['unknown', 'unknown', 'wait', 'dash'],
    // Of breakers, workers, servers, alerts.
    ['closed', 'closed', 'good', 'check'],
    ['open', 'open', 'bad', 'cross'],
    ['half_open', 'being tried', 'retry', 'again'],
    ['draining', 'draining', 'hold', 'bars'],
    ['silent', 'silent', 'bad', 'cross'],
    ['answering', 'answering', 'good', 'check'],
    ['critical', 'critical', 'bad', 'cross'],
    ['warning', 'warning', 'retry', 'square'],
    ['done', 'done', 'good', 'check'],
    ['idle', 'idle', 'wait', 'dash'],
    ['cordoned', 'cordoned', 'hold', 'slash'],
    ['away', 'away', 'bad', 'clock'],
    ['kept', 'kept', 'wait', 'square'],
    ['pending', 'to be sent', 'busy', 'ring'],
    ['sent', 'sent', 'good', 'check'],
    ['given_up', 'given up', 'bad', 'cross'],
    ['silenced', 'silenced', 'hold', 'slash'],
    ['acknowledged', 'acknowledged', 'good', 'check'],
    ['ok', 'well', 'good', 'check'],
]

const table = new Map(rows.map(([name, word, hue, shape]) => [name, { word, hue, shape } as State]))

/** What a newer server says is shown as it says it. */
export function state(name: string): State {
    return table.get(name) ?? { word: name.replace(/_/g, ' '), hue: 'wait', shape: 'dash' }
}

export function knownStates(): string[] {
    return [...table.keys()]
}
