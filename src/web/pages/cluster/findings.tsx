// Findings about a server, its machine or its database, and what to do about each; those that are well stand folded.
import './findings.css'
import type { Diagnostics } from 'openapi'
import { count } from '../../base/format'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import type { Loaded } from '../../api/resource'

type Check = Diagnostics['checks'][number]

const order = ['failed', 'warning', 'ok']
const words: Record<string, string> = { ok: 'well', failed: 'wrong' }

/** The same said by several servers is said once, with their names. */
function merged(checks: readonly Check[]): (Check & { servers: string[] })[] {
    const found = new Map<string, Check & { servers: string[] }>()
    for (const check of checks) {
        const key = JSON.stringify([check.name, check.status, check.advice ?? check.detail])
        const one = found.get(key)
        if (one)
            one.servers.push(check.server)
        else
            found.set(key, { ...check, servers: [check.server] })
    }
    return [...found.values()].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
}

function Finding({ check }: { check: Check & { servers: string[] } }) {
    return (
        <li class="finding">
            <div class="row">
                <Status state={check.status} word={words[check.status]} />
                <strong>{check.name.replace(/_/g, ' ')}</strong>
                <span class="soft small">{check.servers.join(', ')}</span>
            </div>
            <p class={check.advice ? 'soft' : ''}>{check.detail}</p>
            {check.advice && <p><strong>What to do:</strong> {check.advice}</p>}
        </li>
    )
}

export function Findings({ read }: { read: Loaded<Diagnostics> }) {
    const { data, problem, at, reload } = read
    const all = merged(data?.checks ?? [])
    const wrong = all.filter(check => check.status !== 'ok')
    const well = all.filter(check => check.status === 'ok')
    return (
        <section class="panel" id="findings">
            <h2>Findings</h2>
            <OldData problem={problem} at={at} retry={reload} />
            {data && wrong.length === 0 && <p><Status state="ok" word="Nothing is wrong." /></p>}
            <ul class="findings">{wrong.map((check, i) => <Finding key={i} check={check} />)}</ul>
            {data?.missing?.map(name => <p key={name}><Status state="silent" word={`${name} gave no answer.`} /></p>)}
            {well.length > 0 && <details>
                <summary>{count(well.length, 'check')} {well.length === 1 ? 'is' : 'are'} well</summary>
                <ul class="findings">{well.map((check, i) => <Finding key={i} check={check} />)}</ul>
            </details>}
        </section>
    )
}
