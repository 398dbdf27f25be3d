// What a browser remembers of its user between visits: small values by name. A browser that remembers
// nothing (private windows, no room) behaves as on the first visit.

const PREFIX = 'belfry.'

export function recall<T>(name: string, otherwise: T): T {
    try {
        const text = localStorage.getItem(PREFIX + name)
        return text === null ? otherwise : JSON.parse(text) as T
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
