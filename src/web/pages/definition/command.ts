// A document as a command line of belfry, as a call of curl, and as a file. Pure.
import { brief, DEFAULTS, Document, isObject, same } from './document'

/** A word of a shell. */
export function shell(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`
}

const LINE_MAX = 80

/** As JSON.stringify prints it, but a list of plain values is one line if it fits. */
export function json(value: unknown, indent = ''): string {
    if (typeof value !== 'object' || value === null)
        return JSON.stringify(value)
    const inner = `${indent}  `
    const isList = Array.isArray(value)
    const [open, close] = isList ? '[]' : '{}'
    const items = isList ? value.map(one => json(one, inner)) : Object.entries(value)
        .filter(([, one]) => one !== undefined).map(([name, one]) => `${JSON.stringify(name)}: ${json(one, inner)}`)
    const line = `[${items.join(', ')}]`
    const isPlain = isList && value.every(one => one === null || typeof one !== 'object')
    if (items.length === 0 || isPlain && line.length <= LINE_MAX)
        return isList ? line : '{}'
    return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`
}

type Flags = string[] | null // null: no flags say it

const pairs = (flag: string, value: unknown): Flags => isObject(value)
    ? Object.entries(value).flatMap(([key, one]) => [flag, `${key}=${one}`]) : null

function only(value: unknown, names: string[]): value is Record<string, string | number> {
    return isObject(value) && Object.keys(value).every(name => names.includes(name))
}

function schedule(value: unknown): Flags {
    if (!only(value, ['at', 'delay', 'every', 'cron', 'timezone', 'seconds']))
        return null
    const flags: string[] = []
    const names = { at: '--at', delay: '--in', every: '--every', cron: '--cron', timezone: '--tz' } as const
    for (const [name, flag] of Object.entries(names)) {
        if (value[name] !== undefined)
            flags.push(flag, String(value[name]))
    }
    return value.seconds ? [...flags, '--seconds'] : flags
}

function unique(value: unknown): Flags {
    if (!only(value, ['key', 'keep']))
        return null
    return ['--unique', String(value.key), ...value.keep ? ['--unique-keep', String(value.keep)] : []]
}

const text = (flag: string) => (value: unknown): Flags => [flag, String(value)]

/** What `belfry submit` has flags for. */
const flags: Record<string, (value: unknown) => Flags> = {
    name: text('--name'), handler: text('--handler'), queue: text('--queue'), team: text('--team'),
    priority: text('--priority'), timeout: text('--timeout'), overlap: text('--overlap'), stagger: text('--stagger'),
    working_dir: text('--working-dir'), payload: value => ['--payload', JSON.stringify(value)],
    env: value => pairs('--env', value), tags: value => pairs('--tag', value), schedule, unique,
    breaker: value => ['--breaker', value === false ? 'none' : String(value)],
    misfire: value => only(value, ['policy']) ? ['--misfire', String(value.policy)] : null,
    sla: value => only(value, ['expected', 'max', 'policy']) ? Object.entries(value).flatMap(([name, one]) =>
        name === 'policy' && one === 'flexible' ? [] : [`--sla-${name}`, String(one)]) : null,
    concurrency: value => only(value, ['key', 'limit']) && !/=/.test(String(value.key))
        ? ['--concurrency', `${value.key}=${value.limit}`] : null,
    rate: value => only(value, ['key', 'limit', 'per']) && !/=/.test(String(value.key))
        ? ['--rate', `${value.key}=${value.limit}/${value.per}`] : null,
    depends_on: value => Array.isArray(value)
        ? value.flatMap(one => ['--after', `${one.type ?? 'success'}:${one.job}`]) : null,
}

/** The words of a command line, or null: then it takes a file. */
function words(document: Document): string[] | null {
    const { command, retry, ...rest } = brief(document)
    const found: string[] = []
    for (const [name, value] of Object.entries(rest)) {
        const said = flags[name]?.(value)
        if (!said)
            return null
        found.push(...said)
    }
    // `submit` asks for no retries unless it is told to; the API's default is another.
    if (retry !== undefined && !only(retry, ['max_retries']))
        return null
    const retries = (retry ?? DEFAULTS.retry as Document).max_retries
    if (!same(retries, 0))
        found.push('--retries', String(retries))
    if (typeof command === 'string')
        return [...found, '--', '/bin/sh', '-c', command]
    return Array.isArray(command) ? [...found, '--', ...command.map(String)] : found
}

/** A here-document: no line of it is its end, since lines of printed JSON begin with a bracket or a blank. */
const here = (document: Document) => `<<'EOF'\n${json(brief(document))}\nEOF`

export function cli(document: Document): string {
    const found = words(document)
    if (!found)
        return `belfry submit -f - ${here(document)}`
    return ['belfry submit', ...found.map(shell)].join(' ')
}

export function curl(document: Document, origin: string): string {
    return `curl -X POST ${shell(origin + '/api/v1/jobs')} -H 'Authorization: Bearer '"$BELFRY_TOKEN" \\\n` +
        `  -H 'Content-Type: application/json' --data-binary @- ${here(document)}`
}
