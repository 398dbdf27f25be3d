// JSON values as YAML: what every reader of YAML 1.1 or 1.2 reads back as the same. Text is written plain only
// where no reader takes it for anything else; everything else is in double quotes, with JSON's escapes. Pure.

const NOT_TEXT = /^(|~|null|true|false|yes|no|on|off|y|n|<<|=|[-+.]?(inf|nan)|[-+]\.inf|\.{3}|-{3})$/i
/** Numbers of both versions, and dates and base 60, which 1.1 has. */
const LIKE_NUMBER = /^[-+.]?\d[\d_.,:eExXoOa-fA-F+-]*([tT ].*)?$/
const PLAIN = /^[\p{L}\p{N}_./$(+][^\p{C}\p{Zl}\p{Zp}"'`{}[\],&*!|>%@\\#]*$/u
const BLOCK = /^[^\p{C}\p{Zl}\p{Zp} \t\n][^\r\t\u007f-\u009f\u2028\u2029\ufeff]*$/u
const KEY_MAX = 1000 // a reader need not take a longer one for a key

function isPlain(text: string): boolean {
    return PLAIN.test(text) && !NOT_TEXT.test(text) && !LIKE_NUMBER.test(text) && !/: |:$|\s$|\s{2}/.test(text)
}

function quoted(text: string): string {
    return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
        c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))
}

/** Several lines as they are, where nothing would be lost: no blanks at ends, one line break at the end or none. */
function block(text: string, indent: string): string | null {
    const lines = text.split('\n')
    const ends = text.endsWith('\n')
    if (lines.length < 2 || !BLOCK.test(text) || /[ \t]\n|[ \t]$|\n\n$/.test(text) ||
        lines.some(line => /\p{C}/u.test(line)))
        return null
    const body = ends ? lines.slice(0, -1) : lines
    return `|${ends ? '' : '-'}\n${body.map(line => line && indent + line).join('\n')}`
}

function text(value: string, indent: string): string {
    return isPlain(value) ? value : block(value, indent) ?? quoted(value)
}

function entries(value: object, indent: string): string {
    return Object.entries(value).map(([name, child]) => {
        const key = isPlain(name) ? name : quoted(name)
        const said = below(child, indent)
        return key.length > KEY_MAX ? `${indent}? ${key}\n${indent}:${said}` : `${indent}${key}:${said}`
    }).join('\n')
}

const isMany = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && Object.keys(value).length > 0

/** What stands behind "key:" or "-". */
function below(value: unknown, indent: string): string {
    const deeper = indent + '  '
    if (!isMany(value))
        return ' ' + scalar(value, deeper)
    return '\n' + (Array.isArray(value) ? items(value, deeper) : entries(value, deeper))
}

function items(list: unknown[], indent: string): string {
    return list.map(value => isMany(value)
        ? `${indent}- ${nested(value, indent + '  ').trimStart()}` : `${indent}-${below(value, indent)}`).join('\n')
}

const nested = (value: object, indent: string) =>
    Array.isArray(value) ? items(value, indent) : entries(value, indent)

function scalar(value: unknown, indent: string): string {
    if (typeof value === 'string')
        return text(value, indent)
    if (Array.isArray(value))
        return '[]'
    return value !== null && typeof value === 'object' ? '{}' : JSON.stringify(value)
}

export function yaml(value: unknown): string {
    return (isMany(value) ? nested(value, '') : scalar(value, '  ')) + '\n'
}
