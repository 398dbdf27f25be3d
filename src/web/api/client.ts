// The one client of the API. Paths are those behind /api/v1; what fails is thrown as a Problem.
//
// A GET that meets a server which is away or full is asked again, with longer pauses; nothing else is ever
// repeated by itself, and none is waited for without end. Answers with an ETag are kept and asked for with
// If-None-Match.
import { Query, printQuery } from '../base/query'
import { Problem, away, readProblem } from './problem'
import { signedOut } from './session'

export interface CallOptions {
    query?: Query
    signal?: AbortSignal
    /** Of what may be made once only: the same key again gets the first answer. */
    idempotencyKey?: string
    ifMatch?: string
    headers?: Record<string, string>
    /** How often a GET is asked again; 2 when nothing is said. */
    retries?: number
}

const BASE = '/api/v1'
const TAGGED_MAX = 200
const FIRST_PAUSE_MS = 400
const WAIT_MAX_MS = 10_000 // a server that wants to be left alone for longer is told of, not waited for
/** A GET without an answer by then has lost its connection, as behind a sleep or a change of networks. */
const PATIENCE_MS = 30_000
const SILENT = 'silent'

/** Answers with their tags, the oldest first. */
const tagged = new Map<string, { tag: string, body: unknown }>()
let era = 0 // of whoever uses the page

function keepTagged(url: string, tag: string, body: unknown): void {
    tagged.delete(url)
    tagged.set(url, { tag, body })
    if (tagged.size > TAGGED_MAX)
        tagged.delete(tagged.keys().next().value!)
}

/** Ends early when the signal says so. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        const aborted = () => {
            clearTimeout(timer)
            reject(signal!.reason)
        }
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', aborted)
            resolve()
        }, ms)
        signal?.addEventListener('abort', aborted, { once: true })
    })
}

/** Work that is given up after a while, or when the signal says so. */
async function patiently<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const limit = new AbortController()
    const aborted = () => limit.abort(signal!.reason)
    const timer = setTimeout(() => limit.abort(), PATIENCE_MS)
    signal?.addEventListener('abort', aborted)
    if (signal?.aborted)
        aborted()
    try {
        return await work(limit.signal)
    } catch (why) {
        if (limit.signal.aborted && !signal?.aborted)
            throw new Problem(0, SILENT, `the server has given no answer for ${PATIENCE_MS / 1000} s`)
        throw why
    } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', aborted)
    }
}

/** One request as the API wants it from a page: with the cookie, and with the header that shows that it
 *  was not another site's form. Throws Problems for what is not 2xx or 304. */
export async function send(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers }
    if (method !== 'GET')
        headers['X-Belfry'] = '1'
    if (body !== undefined)
        headers['Content-Type'] ??= 'application/json'
    if (options.idempotencyKey)
        headers['Idempotency-Key'] = options.idempotencyKey
    if (options.ifMatch)
        headers['If-Match'] = options.ifMatch
    let answer: Response
    try {
        answer = await fetch(BASE + path + printQuery(options.query ?? {}), {
            method, headers, credentials: 'same-origin', cache: 'no-store', signal: options.signal,
            body: body === undefined ? undefined : JSON.stringify(body),
        })
    } catch (why) {
        if (options.signal?.aborted)
            throw why
        throw away(why)
    }
    if (answer.ok || answer.status === 304)
        return answer
    const problem = await readProblem(answer)
    if (problem.status === 401)
        signedOut(path)
    throw problem
}

async function read<T>(answer: Response): Promise<T> {
    if (answer.status === 204)
        return undefined as T
    const isJson = /json/.test(answer.headers.get('Content-Type') ?? '')
    try {
        return (isJson ? await answer.json() : await answer.text()) as T
    } catch (why) {
        if (why instanceof TypeError) // the connection ended in the middle of it
            throw away(why)
        throw why
    }
}

function getOnce<T>(path: string, options: CallOptions): Promise<T> {
    const url = path + printQuery(options.query ?? {})
    const known = tagged.get(url)
    const headers = known ? { 'If-None-Match': known.tag, ...options.headers } : options.headers
    const asked = era
    return patiently(async signal => {
        const answer = await send('GET', path, undefined, { ...options, headers, signal })
        if (answer.status === 304 && known)
            return known.body as T
        const body = await read<T>(answer)
        const tag = answer.headers.get('ETag')
        if (tag && asked === era)
            keepTagged(url, tag, body)
        return body
    }, options.signal)
}

async function get<T>(path: string, options: CallOptions = {}): Promise<T> {
    for (let left = options.retries ?? 2, wait = FIRST_PAUSE_MS; ; left--, wait *= 3) {
        try {
            return await getOnce<T>(path, options)
        } catch (why) {
            if (left <= 0 || !(why instanceof Problem) || !why.isPassing || why.code === SILENT ||
                (why.retryAfterMs ?? 0) > WAIT_MAX_MS)
                throw why
            await pause(Math.max(why.retryAfterMs ?? 0, wait * (0.75 + Math.random() / 2)), options.signal)
        }
    }
}

async function change<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T> {
    return read<T>(await send(method, path, body, options))
}

/** A name for one intended change, kept while it is tried again by hand. */
export function newKey(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(16))
    return 'web-' + Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Forgets what was kept: somebody else may use the page from now on. */
export function forgetAnswers(): void {
    era++
    tagged.clear()
}

export const api = {
    get,
    post: <T = unknown>(path: string, body?: unknown, options?: CallOptions) =>
        change<T>('POST', path, body, options),
    put: <T = unknown>(path: string, body?: unknown, options?: CallOptions) =>
        change<T>('PUT', path, body, options),
    patch: <T = unknown>(path: string, body?: unknown, options?: CallOptions) =>
        change<T>('PATCH', path, body, options),
    delete: <T = unknown>(path: string, options?: CallOptions) =>
        change<T>('DELETE', path, undefined, options),
}
