// The nouns, with the counts that matter; on a phone a bar at the bottom.
import './sidebar.css'
import { isPhone } from '../base/choices'
import { compact } from '../base/format'
import { Menu } from '../parts/ask/menu'
import { counts } from './counts'
import { address, go } from '../base/router'
import { nouns, Noun } from './routes'

const isCurrent = (noun: Noun, path: string) =>
    noun.path === '/' ? path === '/' : path === noun.path || path.startsWith(noun.path + '/')

function Entry({ noun }: { noun: Noun }) {
    const number = noun.count ? counts[noun.count].value : 0
    const current = isCurrent(noun, address.value.path)
    return (
        <li>
            <a class="side-link" href={noun.path} aria-current={current ? 'page' : undefined}>
                <span>{noun.name}</span>
                {number > 0 && <span class="side-count number">{compact(number)}</span>}
            </a>
        </li>
    )
}

export function SideBar() {
    const byPlace = nouns.filter(noun => noun.phone).sort((a, b) => a.phone! - b.phone!)
    const rest = nouns.filter(noun => !noun.phone)
    const shown = isPhone.value ? byPlace.slice(0, rest.length > 0 ? 3 : 4) : nouns
    return (
        <nav class="side" aria-label="Pages">
            <ul>
                {shown.map(noun => <Entry key={noun.path} noun={noun} />)}
                {isPhone.value && rest.length > 0 && <li>
                    <Menu label="More" plain items={rest.map(noun => ({
                        name: noun.name, run: () => go(noun.path),
                    }))} />
                </li>}
            </ul>
        </nav>
    )
}
