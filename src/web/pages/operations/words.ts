// An operation in words. Pure.
import type { Operation } from 'openapi'
import { count, number } from '../../base/format'

const verbs: Record<string, [string, string]> = {
    retry: ['Retry', 'retried'], discard: ['Discard', 'discarded'], pause: ['Pause', 'paused'],
    resume: ['Resume', 'resumed'], cancel: ['Cancel', 'cancelled'], trigger: ['Trigger', 'triggered'],
}

/** "Pause jobs" */
export function title({ kind, of }: Operation): string {
    return `${verbs[kind]?.[0] ?? kind} ${of.replace(/_/g, ' ')}`
}

export function doneWord({ kind }: Operation): string {
    return verbs[kind]?.[1] ?? 'done'
}

/** How many it is about: null while they are too many to be counted. */
export function all(operation: Operation): number | null {
    return operation.total ?? operation.ids ?? null
}

/** Whom it is about. */
export function targets({ ids, filter, of }: Operation): string {
    if (ids)
        return `${count(ids, 'id')} that ${ids === 1 ? 'was' : 'were'} named`
    const named = Object.entries(filter ?? {})
    return named.length === 0 ? `all ${of.replace(/_/g, ' ')}`
        : named.map(([name, value]) => `${name} ${[value].flat().join(' or ')}`).join(', ')
}

export function sentence(operation: Operation): string {
    const many = all(operation)
    const said = [`${number(operation.done)}${many === null ? '' : ` of ${number(many)}`} ${doneWord(operation)}`]
    if (operation.refused > 0)
        said.push(`${number(operation.refused)} refused`)
    said.push({ running: 'it goes on', done: 'it is done', cancelled: 'it was stopped; what was done stays',
        failed: `it failed: ${operation.last_refusal ?? 'nobody knows why'}` }[operation.status])
    return said.join(', ') + '.'
}

export function placeOf(id: string): string | null {
    return id.startsWith('job_') ? `/jobs/${id}` : id.startsWith('exec_') ? `/executions/${id}` : null
}
