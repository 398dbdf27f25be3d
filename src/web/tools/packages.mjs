// Where things are, and packages by name. They live below build/, so that the source tree stays clean;
// node would look for them beside the file that asks.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

export const web = fileURLToPath(new URL('..', import.meta.url))
export const root = join(web, '..', '..')
export const build = join(root, 'build', 'web')

const homes = ['npm', 'npm-test'].map(name => join(root, 'build', name))
export const modules = homes.map(home => join(home, 'node_modules')).filter(path => existsSync(path))

/** A package that make has fetched; `make` says how when it is missing. */
export function load(name) {
    for (const home of homes) {
        if (existsSync(join(home, 'node_modules', name)))
            return createRequire(join(home, 'package.json'))(name)
    }
    throw new Error(`the package ${name} is not here; make build/npm/ok build/npm-test/ok fetches it`)
}
