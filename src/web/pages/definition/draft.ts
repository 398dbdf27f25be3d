// A document as a form has it: text in fields, until it is sent. What a form has no field for is kept in `rest`. What
// is wrong with a value is told by the server; here only what cannot be put into a document is refused. Pure.
import type { FieldError } from '../../api/problem'
import { json } from './command'
import { Document, hasLongNumber, isObject } from './document'

export type Kind = 'shell' | 'program' | 'handler'
export type When = 'now' | 'at' | 'delay' | 'every' | 'cron'

export interface Draft {
    kind: Kind
    when: When
    fields: Record<string, string> // by the path in the document: "retry.max_retries"
    seconds: boolean
    rest: Document
}

/** Members of one text each. Numbers are sent as numbers where they are some. */
const texts = ['name', 'description', 'handler', 'queue', 'team', 'timeout', 'overlap', 'working_dir',
    'schedule.at', 'schedule.delay', 'schedule.every', 'schedule.cron', 'schedule.timezone',
    'retry.policy', 'retry.delay', 'sla.expected', 'sla.max', 'sla.policy']
const numbers = ['priority', 'retry.max_retries']
const maps = ['env', 'tags'] // a line for each: key=value
const RECURRING = ['overlap', 'misfire', 'dst', 'stagger']

export const empty: Draft = { kind: 'shell', when: 'now', fields: {}, seconds: false, rest: {} }

function take(document: Document, path: string): unknown {
    const [name, inner] = path.split('.')
    const value = document[name]
    if (inner === undefined) {
        delete document[name]
        return value
    }
    if (!isObject(value))
        return undefined
    const { [inner]: found, ...others } = value
    document[name] = others
    return found
}

function put(document: Document, path: string, value: unknown): void {
    const [name, inner] = path.split('.')
    if (inner === undefined)
        document[name] = value
    else
        document[name] = { ...isObject(document[name]) ? document[name] : {}, [inner]: value }
}

const asLines = (value: Document) => Object.entries(value).map(([key, one]) => `${key}=${String(one)}`).join('\n')
const canBeLines = (value: unknown): value is Document => isObject(value) && Object.entries(value).every(
    ([key, one]) => key && !/[=\n]/.test(key) && key.trim() === key && typeof one === 'string' && !/\n/.test(one))

export function draftOf(document: Document): Draft {
    const rest = { ...document }
    const fields: Record<string, string> = {}
    const schedule = isObject(document.schedule) ? document.schedule : {}
    const when = (['at', 'delay', 'every', 'cron'] as const).find(name => name in schedule) ?? 'now'
    for (const path of [...texts, ...numbers]) {
        const value = take(rest, path)
        if (value !== undefined)
            fields[path] = String(value)
    }
    for (const name of maps) {
        if (canBeLines(rest[name]))
            fields[name] = asLines(take(rest, name) as Document)
    }
    const seconds = take(rest, 'schedule.seconds') === true
    if ('payload' in rest && !hasLongNumber(rest.payload)) // else it stays as it was sent, unless it is replaced
        fields.payload = json(take(rest, 'payload'))
    const command = take(rest, 'command')
    const isProgram = Array.isArray(command)
    if (isProgram)
        fields.program = command.every(word => typeof word === 'string' && word && !/\n|^\[/.test(word))
            ? command.join('\n') : JSON.stringify(command)
    else if (command !== undefined)
        fields.shell = String(command)
    for (const name of ['schedule', 'retry', 'sla']) {
        if (isObject(rest[name]) && Object.keys(rest[name]).length === 0)
            delete rest[name]
    }
    return { kind: fields.handler ? 'handler' : isProgram ? 'program' : 'shell', when, fields, seconds, rest }
}

type Refuse = (field: string, message: string) => void

function readJson(field: string, text: string, refuse: Refuse): unknown {
    try {
        const value: unknown = JSON.parse(text)
        if (hasLongNumber(value))
            refuse(field, 'a browser cannot carry whole numbers of more than 15 digits; use the command line')
        return value
    } catch (why) {
        refuse(field, `is not JSON: ${(why as Error).message}`)
        return undefined
    }
}

function readLines(field: string, text: string, refuse: Refuse): Document {
    const found: Document = {}
    for (const line of text.split('\n').filter(line => line.trim())) {
        const at = line.indexOf('=')
        if (at < 1)
            refuse(field, `a line is KEY=VALUE, not ${line.slice(0, 40)}`)
        else
            found[line.slice(0, at).trim()] = line.slice(at + 1)
    }
    return found
}

function work(draft: Draft, document: Document, refuse: Refuse): void {
    const { kind, fields } = draft
    const { program = '', shell = '', handler = '' } = fields
    if (kind === 'shell' && shell.trim())
        document.command = shell
    else if (kind === 'program' && program.trim())
        document.command = program.startsWith('[') ? readJson('command', program, refuse)
            : program.split('\n').filter(Boolean)
    else if (kind === 'handler' && handler.trim())
        document.handler = handler.trim()
}

export function toDocument(draft: Draft): { document: Document, errors: FieldError[] } {
    const errors: FieldError[] = []
    const refuse: Refuse = (field, message) => errors.push({ field, message })
    const { fields, when } = draft
    const document: Document = {}
    const recurs = when === 'every' || when === 'cron'
    if (fields.name?.trim())
        document.name = fields.name.trim()
    work(draft, document, refuse)
    for (const path of [...texts, ...numbers]) {
        const value = fields[path]?.trim()
        const [name, inner] = path.split('.')
        const isLeft = path === 'name' || path === 'handler' || RECURRING.includes(path) && !recurs ||
            name === 'schedule' && inner !== when && !(inner === 'timezone' && when === 'cron')
        if (value && !isLeft)
            put(document, path, numbers.includes(path) && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value)
    }
    if (draft.seconds && when === 'cron')
        put(document, 'schedule.seconds', true)
    if (fields.payload?.trim())
        document.payload = readJson('payload', fields.payload, refuse)
    for (const name of maps) {
        if (fields[name]?.trim())
            document[name] = readLines(name, fields[name], refuse)
    }
    for (const [name, value] of Object.entries(draft.rest)) {
        if (RECURRING.includes(name) && !recurs || name === 'dst' && when !== 'cron' || name === 'schedule' ||
            name === 'payload' && 'payload' in document)
            continue
        document[name] = isObject(value) && isObject(document[name]) ? { ...value, ...document[name] } : value
    }
    // A policy alone says nothing of how long.
    if (isObject(document.sla) && !document.sla.expected && !document.sla.max)
        delete document.sla
    return { document, errors }
}
