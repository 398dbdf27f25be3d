// Makes build/web/openapi.d.ts: a type for each schema of /openapi.json, under its name.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, web } from './packages.mjs'

const words = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }
const comment = (text, indent) => text ? `${indent}/** ${text.replace(/\*\//g, '* /').replace(/\s+/g, ' ')} */\n` : ''
const quote = value => JSON.stringify(value)
const unite = list => list.length > 1 ? `(${[...new Set(list)].join(' | ')})` : list[0]

function object(schema, indent) {
    const inner = indent + '    '
    const required = new Set(schema.required ?? [])
    const members = Object.entries(schema.properties ?? {}).map(([name, member]) =>
        `${comment(member.description, inner)}${inner}${/^\w+$/.test(name) ? name : quote(name)}` +
        `${required.has(name) ? '' : '?'}: ${type(member, inner)}\n`)
    const more = schema.additionalProperties
    if (members.length === 0)
        return `Record<string, ${more && typeof more === 'object' ? type(more, indent) : 'unknown'}>`
    return `{\n${members.join('')}${indent}}`
}

function type(schema, indent = '') {
    if (schema === true || schema === undefined)
        return 'unknown'
    if (schema.$ref) {
        const target = schema.$ref.split('/').slice(3)
        return target.length > 1 ? `${target[0]}${target.slice(1).map(step => `[${quote(step)}]`).join('')}`
            .replace('["properties"]', '') : target[0]
    }
    if (schema.enum)
        return unite(schema.enum.map(quote))
    if ('const' in schema)
        return quote(schema.const)
    if (schema.allOf)
        return schema.allOf.map(one => type(one, indent)).join(' & ')
    const choice = schema.oneOf ?? schema.anyOf
    if (choice && !schema.properties)
        return unite(choice.map(one => type(one, indent)))
    const kinds = [schema.type ?? (schema.properties ? 'object' : [])].flat()
    if (kinds.length === 0)
        return 'unknown'
    return unite(kinds.map(kind => kind === 'array' ? `(${type(schema.items, indent)})[]`
        : kind === 'object' ? object(schema, indent) : words[kind]))
}

const { schemas } = JSON.parse(readFileSync(join(web, 'openapi.json'), 'utf8')).components
const text = Object.entries(schemas).map(([name, schema]) =>
    `${comment(schema.description, '')}export type ${name} = ${type(schema)}\n`).join('\n')
mkdirSync(build, { recursive: true })
writeFileSync(join(build, 'openapi.d.ts'), `// Made by src/web/tools/types.mjs of src/web/openapi.json.\n\n${text}`)
