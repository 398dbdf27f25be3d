// Server-sent events out of pieces of text, as they come. Pure.

export interface SseEvent { event: string, data: string, id: string | null }

export class SseReader {
    private rest = ''
    private event = ''
    private data: string[] = []
    private id: string | null = null

    /** The events that are complete with this piece. */
    feed(piece: string): SseEvent[] {
        const lines = (this.rest + piece).split('\n')
        const found: SseEvent[] = []
        this.rest = lines.pop()!
        for (const raw of lines) {
            const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
            if (line === '')
                this.end(found)
            else
                this.field(line)
        }
        return found
    }

    private field(line: string): void {
        const at = line.indexOf(':')
        const name = at < 0 ? line : line.slice(0, at)
        const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '')
        if (name === 'event')
            this.event = value
        else if (name === 'data')
            this.data.push(value)
        else if (name === 'id')
            this.id = value
    }

    private end(found: SseEvent[]): void {
        if (this.data.length > 0)
            found.push({ event: this.event || 'message', data: this.data.join('\n'), id: this.id })
        this.event = ''
        this.data = []
    }
}
