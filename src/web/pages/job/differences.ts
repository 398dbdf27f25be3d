// Differences between two definitions: a line for each member, by its path. Pure.
import { Document, isObject, same } from '../definition/document'

export interface Difference { path: string, before?: string, after?: string }

export function differences(before: Document, after: Document, prefix = ''): Difference[] {
    const found: Difference[] = []
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
        const [a, b] = [before[name], after[name]]
        const path = prefix + name
        if (isObject(a) && isObject(b))
            found.push(...differences(a, b, path + '.'))
        else if (!same(a, b))
            found.push({ path, before: name in before ? JSON.stringify(a) : undefined,
                after: name in after ? JSON.stringify(b) : undefined })
    }
    return found
}
