// Dead letters in a sentence. Pure.
import type { DeadLetterGroups } from 'openapi'
import { count, number } from '../../base/format'

export function sentence({ fingerprints, complete }: DeadLetterGroups): string {
    const sum = fingerprints.reduce((all, group) => all + group.count, 0)
    if (sum === 0)
        return 'Nothing has failed for good.'
    const [first] = fingerprints
    const what = first.fingerprint_text ?? first.error_class ?? 'an unknown reason'
    const head = `${complete ? '' : 'At least '}${count(sum, 'execution')} failed for good`
    if (fingerprints.length === 1)
        return `${head}, ${sum === 1 ? 'by' : 'all by'}: ${what}.`
    return `${head} in ${number(fingerprints.length)} ways; most, ${number(first.count)}, by: ${what}.`
}
