// One setting.
import type { Setting } from 'openapi'
import { Status } from '../../parts/show/status'

type Place = { source: string, from: string | null }

function fromText({ source, from }: Place): string {
    const words: Record<string, string> = {
        flag: 'a flag of the command', environment: `the variable ${from}`, config_file: `the file ${from}`,
        default: 'its default',
    }
    return words[source] ?? source
}

const valueText = (value: string) => value === '' ? <span class="soft">nothing</span> : <code>{value}</code>

export function Entry({ setting }: { setting: Setting }) {
    const { name, value, words, source, adjusted, secret, elsewhere, differs, own } = setting
    const usual = setting.default
    const isUsual = source === 'default' && !adjusted
    return (
        <div class={`setting${isUsual ? '' : ' is-set'}`} id={`setting-${name}`}>
            <dt><code>{name}</code></dt>
            <dd class="setting-value">{valueText(value)}{secret && value !== '' &&
                <span class="soft small"> (it is a secret)</span>}</dd>
            <dd class="setting-from soft small">
                {source === 'default' ? 'default' : <>from {fromText(setting)}{!secret && value !== usual &&
                    <>; the default is {valueText(usual)}</>}</>}
                {adjusted && '; the server made it fit'}
            </dd>
            <dd class="setting-words soft">{words}</dd>
            {elsewhere.map(other => <dd key={other.server} class="setting-words small">
                {differs ? <Status state="warning" word={`${other.server} has another:`} />
                    : <span class="soft">{other.server}{own ? ', its own:' : ':'}</span>} {valueText(other.value)}
                <span class="soft"> from {fromText(other)}</span>
            </dd>)}
        </div>
    )
}
