// The settings by which a server goes: what each is, where that comes from, and where servers disagree.
import './settings.css'
import type { Cluster, Setting, Settings as Doc } from 'openapi'
import { useResource } from '../../api/resource'
import { count, number } from '../../base/format'
import { query, setQuery } from '../../base/router'
import { Menu } from '../../parts/ask/menu'
import { Filter, Filters, readFilters } from '../../parts/list/filters'
import { Empty } from '../../parts/show/empty'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Entry } from './entry'

const EVERY_MS = 15_000

const filters: Filter[] = [
    { name: 'name', label: 'Name', first: true, placeholder: 'A part of its name or meaning' },
    { name: 'source', label: 'Comes from', words: ['flag', 'environment', 'config_file', 'default'], many: true },
    { name: 'servers', label: 'Servers', words: ['differ'] },
]

function chosen(settings: readonly Setting[]): Setting[] {
    const { name, source, servers } = readFilters(filters)
    const text = name?.[0]?.toLowerCase() ?? ''
    return settings.filter(setting =>
        (setting.name.includes(text) || setting.words.toLowerCase().includes(text)) &&
        (!source || source.includes(setting.source)) &&
        (!servers || setting.elsewhere.length > 0))
}

function Sentence({ doc }: { doc: Doc }) {
    const changed = doc.settings.filter(setting => setting.source !== 'default').length
    const differ = doc.settings.filter(setting => setting.differs)
    return (
        <p class={`lead${differ.length > 0 ? ' hue-bad' : ''}`}>
            {count(doc.settings.length, 'setting')} of {doc.server}; <a
                href="/settings?source=flag&source=environment&source=config_file">{number(changed)} set by somebody</a>
            {differ.length > 0
                ? <>; <a href="/settings?servers=differ">servers disagree</a> about {
                    differ.map(setting => setting.name).join(', ')}.</>
                : doc.servers.length > 1 ? `; all ${doc.servers.length} servers agree where they should.` : '.'}
        </p>
    )
}

export default function Settings() {
    const server = query.value.get('server')
    const cluster = useResource<Cluster>('/cluster', {}, { every: EVERY_MS })
    const { data, problem, at, reload, isPrevious } = useResource<Doc>('/settings', { server },
        { every: EVERY_MS, keep: true })
    const names = cluster.data?.nodes.map(node => node.name) ?? []
    const rows = chosen(data?.settings ?? [])
    return (
        <div class="stack">
            <div class="row spread">
                <h1 tabIndex={-1}>Settings</h1>
                {names.length > 1 && data && <Menu label={`of ${data.server}`} end title="Whose settings these are"
                    items={names.map(name => ({
                        name, chosen: name === data.server, run: () => setQuery({ server: name }),
                    }))} />}
            </div>
            {data && <Sentence doc={data} />}
            <OldData problem={problem} at={at} retry={reload} />
            {data?.missing?.map(name => <p key={name}>
                <Status state="silent" word={`${name} gave no answer, so it was not compared.`} /></p>)}
            <Filters filters={filters} />
            {data && rows.length === 0 && <Empty title="No setting fits these filters." />}
            <dl class={`settings${isPrevious || problem ? ' is-old' : ''}`}>
                {rows.map(setting => <Entry key={setting.name} setting={setting} />)}
            </dl>
            <p class="soft">They are set by <code>--set NAME=VALUE</code>, by <code>BELFRY_NAME</code> in the
                environment, or in the file of <code>--config</code>, and count from the next start of the server.</p>
        </div>
    )
}
