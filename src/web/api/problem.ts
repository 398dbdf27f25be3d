// A failed call's answer (RFC 9457), as an error that pages show in the server's own words.

export interface FieldError { field: string, message: string }

export class Problem extends Error {
    constructor(
        /** 0: there was no answer. */
        readonly status: number,
        readonly code: string,
        readonly detail: string,
        readonly requestId: string | null = null,
        readonly errors: readonly FieldError[] = [],
        /** When the server says when to come back. */
        readonly retryAfterMs: number | null = null,
    ) {
        super(detail)
        this.name = 'Problem'
    }

    /** The server could not be reached, or cannot serve at the moment: the same may work later. */
    get isPassing(): boolean {
        return this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503 ||
            this.status === 504
    }
}

export function away(why: unknown): Problem {
    const said = why instanceof Error && why.message ? ` (${why.message})` : ''
    return new Problem(0, 'away', `the server does not answer${said}`)
}

/** Of anything that was thrown. */
export function problemOf(why: unknown): Problem {
    if (why instanceof Problem)
        return why
    return new Problem(-1, 'page', why instanceof Error ? why.message : String(why))
}

/** Of an answer that is none of success. A proxy's page instead of a problem is told by its status. */
export async function readProblem(answer: Response): Promise<Problem> {
    const after = Number(answer.headers.get('Retry-After'))
    const retryAfterMs = after > 0 ? after * 1000 : null
    try {
        const doc = await answer.json()
        return new Problem(answer.status, doc.code ?? 'unknown', doc.detail ?? doc.title ?? '',
            doc.request_id ?? null, doc.errors ?? [], retryAfterMs)
    } catch {
        return new Problem(answer.status, 'unknown',
            `${answer.status} ${answer.statusText || 'without a word of why'}`, null, [], retryAfterMs)
    }
}
