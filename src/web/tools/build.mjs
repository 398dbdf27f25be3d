// Makes build/web/assets.c: the dashboard, bundled, packed and written as C.
//
// Names of files carry a hash of their content, so browsers may keep them for ever; only the page itself
// ("/") keeps its name.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, load, modules, web } from './packages.mjs'

const FIRST_LOAD_MAX = 120 << 10 // brotli, of what the first page needs
const TOTAL_MAX = 350 << 10

const types = {
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.html': 'text/html; charset=utf-8',
}

/** All styles, in one file: they are small, and one page's must not depend on which was opened before. */
function allStyles() {
    const below = folder => readdirSync(join(web, folder), { withFileTypes: true }).flatMap(entry =>
        entry.isDirectory() ? below(join(folder, entry.name)) : join(folder, entry.name))
    const found = below('').filter(path => path.endsWith('.css')).sort()
    const first = ['style/variables.css', 'style/base.css']
    return [...first, ...found.filter(path => !first.includes(path))].map(path => `@import "./${path}";`).join('\n')
}

/** Scripts import the style beside them, for those who read them; it is in the one file. */
const styles = {
    name: 'styles',
    setup(builder) {
        builder.onResolve({ filter: /^all\.css$/ }, () => ({ path: 'all.css', namespace: 'all' }))
        builder.onLoad({ filter: /./, namespace: 'all' }, () => ({
            contents: allStyles(), loader: 'css', resolveDir: web,
        }))
        builder.onResolve({ filter: /\.css$/ }, at => at.kind === 'import-statement'
            ? { path: at.path, namespace: 'beside' } : undefined)
        builder.onLoad({ filter: /./, namespace: 'beside' }, () => ({ contents: '' }))
    },
}

/** What esbuild is told; dev.mjs adds to it. */
export function options() {
    return {
        absWorkingDir: web,
        entryPoints: { main: 'shell/main.tsx', style: 'all.css', icon: 'style/icon.svg', failing: 'style/failing.svg' },
        outdir: join(build, 'out', 'assets'),
        bundle: true,
        splitting: true,
        format: 'esm',
        target: 'es2021',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        nodePaths: modules,
        loader: { '.svg': 'copy' },
        plugins: [styles],
        entryNames: '[name]-[hash]',
        chunkNames: '[name]-[hash]',
        metafile: true,
        logLevel: 'warning',
    }
}

/** The page, with the names that the entries have now: {'main.js': '/assets/main-1A2B.js', …}. */
export function page(names) {
    const html = readFileSync(join(web, 'index.html'), 'utf8')
    return html.replace(/\{([a-z.]+)\}/g, (_, name) => names[name])
}

export function entryNames(outputs) {
    const names = {}
    for (const path of Object.keys(outputs)) {
        const file = basename(path)
        const [, name, ext] = /^(\w+)-\w+(\.\w+)$/.exec(file) ?? []
        if (['main.js', 'style.css', 'icon.svg', 'failing.svg'].includes(name + ext))
            names[name + ext] = `/assets/${file}`
    }
    return names
}

const literal = bytes => {
    const lines = []
    for (let at = 0; at < bytes.length; at += 32) {
        let line = ''
        for (const byte of bytes.subarray(at, at + 32))
            line += '\\' + byte.toString(8).padStart(3, '0')
        lines.push(`    "${line}"`)
    }
    return lines.join('\n')
}

function pack(path, bytes) {
    const ext = path === '/' ? '.html' : /\.\w+$/.exec(path)[0]
    const params = {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_LGWIN]: 22,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    }
    return {
        path,
        type: types[ext],
        tag: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
        brotli: brotliCompressSync(bytes, { params }),
        gzip: gzipSync(bytes, { level: 9 }),
    }
}

/** The first parts of all addresses of pages: "jobs" of /jobs/:id/:tab?. */
function pageParts() {
    const routes = readFileSync(join(web, 'shell', 'routes.ts'), 'utf8')
    return [...new Set([...routes.matchAll(/pattern: '\/([^/':]*)/g)].map(found => found[1]))].sort()
}

function source(assets, parts) {
    const row = a => `    {STR_INIT("${a.path}"), "${a.type}", STR_INIT("\\"${a.tag}\\""),\n` +
        `     STR_INIT(\n${literal(a.brotli)}),\n     STR_INIT(\n${literal(a.gzip)})},\n`
    return '/* Made by src/web/tools/build.mjs. */\n#include "base/err.h"\n#include "web/assets.h"\n\n' +
        `const struct web_asset web_assets[] = {\n${assets.map(row).join('')}};\n` +
        'const size_t web_asset_count = COUNT_OF(web_assets);\n' +
        `const struct str web_page_parts[] = {\n${parts.map(part => `    STR_INIT("${part}"),\n`).join('')}};\n` +
        'const size_t web_page_part_count = COUNT_OF(web_page_parts);\n'
}

/** The entry, its style, and whatever it imports at once: what a browser fetches before it shows anything. */
function firstFiles(outputs, names) {
    const wanted = new Set(Object.values(names).map(name => basename(name)))
    const byName = Object.fromEntries(Object.entries(outputs).map(([path, out]) => [basename(path), out]))
    for (const file of wanted) {
        for (const used of byName[file]?.imports ?? []) {
            if (used.kind === 'import-statement')
                wanted.add(basename(used.path))
        }
    }
    return wanted
}

async function main() {
    const made = await load('esbuild').build({ ...options(), minify: true, write: false })
    const { outputs } = made.metafile
    const names = entryNames(outputs)
    const assets = [pack('/', Buffer.from(page(names)))]
    for (const file of made.outputFiles)
        assets.push(pack(`/assets/${basename(file.path)}`, Buffer.from(file.contents)))
    const size = list => list.reduce((sum, asset) => sum + asset.brotli.length, 0)
    const first = firstFiles(outputs, names)
    const atFirst = size(assets.filter(asset => asset.path === '/' || first.has(basename(asset.path))))
    if (atFirst > FIRST_LOAD_MAX || size(assets) > TOTAL_MAX)
        throw new Error(`too large: ${atFirst} bytes at first of ${FIRST_LOAD_MAX}, ` +
            `${size(assets)} in all of ${TOTAL_MAX}`)
    mkdirSync(build, { recursive: true })
    const sizes = assets.map(a => `${String(a.brotli.length).padStart(7)} ${a.path}`).join('\n')
    writeFileSync(join(build, 'sizes.txt'), `${sizes}\n${atFirst} at first, ${size(assets)} in all (brotli)\n`)
    writeFileSync(join(build, 'assets.c.new'), source(assets, pageParts()))
    renameSync(join(build, 'assets.c.new'), join(build, 'assets.c'))
}

if (process.argv[1] === new URL(import.meta.url).pathname)
    await main()
