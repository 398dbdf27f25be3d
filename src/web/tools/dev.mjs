// `make web-dev`: the dashboard with live reload, in front of a server that runs already.
//
//   BELFRY_URL=http://127.0.0.1:7420 BELFRY_DATA=./belfry-data make web-dev     PORT=7430 is another port
//
// Scripts and styles come from here as they are in the source tree; every call goes on to the server. With a
// key (BELFRY_TOKEN, or admin.key in the data directory) calls carry it, so there is no need to sign in.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { basename, extname, join } from 'node:path'
import { entryNames, options, page } from './build.mjs'
import { build, load, root } from './packages.mjs'

const server = new URL(process.env.BELFRY_URL ?? 'http://127.0.0.1:7420')
const port = Number(process.env.PORT ?? 7430)
const keyFile = join(process.env.BELFRY_DATA ?? join(root, 'belfry-data'), 'admin.key')
const key = process.env.BELFRY_TOKEN ?? (existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : null)
const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.map': 'application/json' }
const RELOAD = `new EventSource('/dev').onmessage = () => location.reload()`

const readers = new Set()
let names = {}

const reloader = {
    name: 'reload',
    setup(builder) {
        builder.onEnd(made => {
            if (made.errors.length > 0)
                return
            names = entryNames(made.metafile.outputs)
            readers.forEach(reader => reader.write('data: changed\n\n'))
        })
    },
}

function forward(req, res) {
    const headers = { ...req.headers, host: server.host, ...key && { authorization: `Bearer ${key}` } }
    const onward = request(new URL(req.url, server), { method: req.method, headers }, answer => {
        res.writeHead(answer.statusCode, answer.headers)
        answer.pipe(res)
    })
    onward.on('error', why => {
        res.writeHead(502, { 'content-type': 'application/problem+json' })
        res.end(JSON.stringify({ status: 502, code: 'bad_gateway', detail: `${server.host}: ${why.message}` }))
    })
    res.on('close', () => onward.destroy())
    req.pipe(onward)
}

function serve(req, res) {
    const path = req.url.split('?')[0]
    if (path === '/dev') {
        res.writeHead(200, { 'content-type': 'text/event-stream' })
        readers.add(res)
        res.on('close', () => readers.delete(res))
    } else if (path === '/dev.js') {
        res.writeHead(200, { 'content-type': types['.js'] })
        res.end(RELOAD)
    } else if (path.startsWith('/assets/')) {
        const file = join(build, 'dev', 'assets', basename(path))
        res.writeHead(existsSync(file) ? 200 : 404, { 'content-type': types[extname(file)] ?? 'text/plain' })
        res.end(existsSync(file) ? readFileSync(file) : '')
    } else if (/^\/(api\/|healthz|readyz|version|metrics|openapi\.json)/.test(path))
        forward(req, res)
    else {
        res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
        res.end(page(names).replace('</head>', '<script src="/dev.js"></script>\n</head>'))
    }
}

mkdirSync(join(build, 'dev'), { recursive: true })
const given = options()
const context = await load('esbuild').context({
    ...given, outdir: join(build, 'dev', 'assets'), sourcemap: true, plugins: [...given.plugins, reloader],
})
await context.watch()
createServer(serve).listen(port, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${port} in front of ${server.origin}${key ? ', with the key of an admin' : ''}`)
})
