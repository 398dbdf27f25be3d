// A job's document: read from a job, without what a server fills in, and as a patch from one to another. Pure.
export type Document = Record<string, unknown>

/** Members of a document, in the order in which they are read best. */
const MEMBERS = ['name', 'description', 'command', 'handler', 'payload', 'env', 'working_dir', 'schedule', 'queue',
    'priority', 'team', 'timeout', 'retry', 'sla', 'start_within', 'expires_in', 'overlap', 'misfire', 'dst', 'stagger',
    'depends_on', 'concurrency', 'rate', 'calendars', 'unique', 'breaker', 'tags']

/** Of JobRecord and Job, beside the document's own. */
const ABOUT = new Set(['job_id', 'status', 'phase', 'version', 'owner', 'created_at', 'finished_at', 'changed_at',
    'last_execution_id', 'schedule_text', 'next_run_at', 'last_outcomes', 'current_execution', 'last_execution',
    'retry_count', 'lost_count', 'dependants', 'more_dependants', 'warnings', 'transitions'])

const RETRY = { max_retries: 3, policy: 'exponential', delay: '1s', max_delay: '1h', jitter: 0.3 }
export const DEFAULTS: Document = {
    queue: 'default', priority: 500, retry: RETRY, overlap: 'skip', dst: { gap: 'after', fold: 'first' },
    misfire: { policy: 'latest', grace: '1d', limit: 100 },
}

export const isObject = (value: unknown): value is Document =>
    typeof value === 'object' && value !== null && !Array.isArray(value)

export const same = (a: unknown, b: unknown): boolean => a === b ||
    Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, i) => same(one, b[i])) ||
    isObject(a) && isObject(b) && Object.keys(a).length === Object.keys(b).length &&
    Object.keys(a).every(name => name in b && same(a[name], b[name]))

/** The document of a job as it is told; a newer server's members are kept. */
export function documentOf(job: object): Document {
    const told = job as Document
    const names = [...MEMBERS, ...Object.keys(told).filter(name => !MEMBERS.includes(name) && !ABOUT.has(name))]
    const found: Document = {}
    for (const name of names) {
        if (told[name] !== undefined && told[name] !== null)
            found[name] = told[name]
    }
    const waits = found.depends_on as { job: string, type: string }[] | undefined
    delete found.depends_on
    if (waits && waits.length > 0)
        found.depends_on = waits.map(({ job, type }) => ({ job, type }))
    return found
}

/** Without members that say what counts anyway. */
export function brief(document: Document): Document {
    const found: Document = {}
    for (const [name, value] of Object.entries(document)) {
        const usual = DEFAULTS[name]
        if (isObject(usual) && isObject(value)) {
            const rest = Object.entries(value).filter(([key, one]) => !same(one, usual[key]))
            if (rest.length > 0)
                found[name] = Object.fromEntries(rest)
        } else if (!same(value, usual))
            found[name] = value
    }
    return found
}

/** The merge patch (RFC 7386) that makes `from` into `to`. */
export function patchOf(from: Document, to: Document): Document {
    const patch: Document = {}
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
        const [a, b] = [from[name], to[name]]
        if (!(name in to))
            patch[name] = null
        else if (isObject(a) && isObject(b)) {
            const inner = patchOf(a, b)
            if (Object.keys(inner).length > 0)
                patch[name] = inner
        } else if (!same(a, b))
            patch[name] = b
    }
    return patch
}

/** `document` with a merge patch made to it. */
export function apply(document: Document, patch: Document): Document {
    const made = { ...document }
    for (const [name, value] of Object.entries(patch)) {
        if (value === null)
            delete made[name]
        else
            made[name] = isObject(value) ? apply(isObject(made[name]) ? made[name] as Document : {}, value) : value
    }
    return made
}

/** A merge patch takes away what is null, so it cannot set a member of an object to null. */
export function setsNull(from: unknown, to: unknown): boolean {
    if (!isObject(to) || same(from, to))
        return false
    const before = isObject(from) ? from : {}
    return Object.entries(to).some(([name, value]) =>
        value === null ? before[name] !== null || !(name in before) : setsNull(before[name], value))
}

/** A number that JSON carries and a page cannot: it would come back as another one. */
export function hasLongNumber(value: unknown): boolean {
    if (typeof value === 'number')
        return Math.abs(value) > Number.MAX_SAFE_INTEGER
    return typeof value === 'object' && value !== null && Object.values(value).some(hasLongNumber)
}
