// The cluster in one sentence: who is silent, what nobody decides about, and whether the store takes commits. Pure.
import type { Cluster, Diagnostics } from 'openapi'
import { count, number } from '../../base/format'

export interface Said { text: string, isWrong: boolean }

function serversText({ nodes, clustered, partitions }: Cluster): string {
    const there = nodes.filter(node => node.status !== 'silent').length
    const what = count(partitions.length, 'partition')
    return !clustered ? `${nodes[0]?.name ?? 'one server'} has the store for itself and decides about ${what}`
        : `${count(there, 'server')} ${there === 1 ? 'decides about' : 'share'} ${what}`
}

/** "server b", "servers b, c": names are not to begin a sentence, which would change them. */
const named = (names: readonly string[]) => `server${names.length === 1 ? '' : 's'} ${names.join(', ')}`

export function sentence(cluster: Cluster, checks: Diagnostics['checks']): Said {
    const wrong: string[] = []
    const silent = cluster.nodes.filter(node => node.status === 'silent').map(node => node.name)
    if (silent.length > 0)
        wrong.push(`${named(silent)} ${silent.length === 1 ? 'is' : 'are'} silent`)
    const free = cluster.partitions.filter(one => one.owner === null).length
    if (free > 0)
        wrong.push(`${count(free, 'partition')} ${
            free === 1 ? 'has no server: its' : 'have no server: their'} jobs wait`)
    const out = cluster.outages.filter(outage => outage.until === null).map(outage => outage.server)
    if (out.length > 0)
        wrong.push(`the store takes no commits of ${out.join(', ')}`)
    const missing = cluster.missing ?? []
    if (missing.length > 0)
        wrong.push(`${named(missing)} gave no answer`)
    const failed = checks.filter(check => check.status === 'failed').length
    const warnings = checks.filter(check => check.status === 'warning').length
    if (failed > 0)
        wrong.push(`${number(failed)} of ${count(checks.length, 'check')} failed`)
    const said = [...wrong, serversText(cluster)]
    if (warnings > 0)
        said.push(count(warnings, 'warning'))
    else if (wrong.length === 0 && checks.length > 0)
        said.push(checks.length === 1 ? 'the check is well' : `all ${number(checks.length)} checks are well`)
    const text = said.join('; ')
    return { text: `${text[0].toUpperCase()}${text.slice(1)}.`, isWrong: wrong.length > 0 }
}
