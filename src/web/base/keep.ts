// Small values, by name, that a browser remembers of its user between visits. A browser that remembers
// nothing (private windows, no room), or something else (another version), behaves as on the first visit.

const PREFIX = 'belfry.'

const kindOf = (value: unknown) => Array.isArray(value) ? 'list' : typeof value

/** What was remembered, if it is of the kind of `otherwise`. */
export function recall<T>(name: string, otherwise: T): T {
    try {
        const text = localStorage.getItem(PREFIX + name)
        const value: unknown = text === null ? otherwise : JSON.parse(text)
        return kindOf(value) === kindOf(otherwise) && value !== null ? value as T : otherwise
    } catch {
        return otherwise
    }
}

export function remember(name: string, value: unknown): void {
    try {
        localStorage.setItem(PREFIX + name, JSON.stringify(value))
    } catch {
        // It is a convenience; the page works without.
    }
}
