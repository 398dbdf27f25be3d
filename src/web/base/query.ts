// Parameters of an address, of a page as of a call: nothing empty is written, lists are repeated.

export type Value = string | number | boolean | null | undefined
export type Query = Record<string, Value | readonly Value[]>

export function printQuery(query: Query): string {
    const out = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) {
        for (const one of Array.isArray(value) ? value : [value]) {
            if (one !== undefined && one !== null && one !== '' && one !== false)
                out.append(name, String(one))
        }
    }
    const text = out.toString()
    return text === '' ? '' : `?${text}`
}

/** An id or a name as a part of a path. */
export function part(text: string): string {
    return encodeURIComponent(text)
}

/** /jobs/:id/:tab? against an address: what stands for each name, or null. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
    const want = pattern.split('/').filter(Boolean)
    const have = path.split('/').filter(Boolean)
    const params: Record<string, string> = {}
    if (have.length > want.length)
        return null
    for (const [i, name] of want.entries()) {
        const text = have[i]
        if (!name.startsWith(':')) {
            if (text !== name)
                return null
        } else if (text !== undefined) {
            try {
                params[name.replace(/^:|\?$/g, '')] = decodeURIComponent(text)
            } catch {
                return null
            }
        } else if (!name.endsWith('?'))
            return null
    }
    return params
}
