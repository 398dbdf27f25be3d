// The nouns, with the counts that matter; on a phone a bar at the bottom.
import './sidebar.css'
import { isPhone } from '../base/choices'
import { compact } from '../base/format'
import { Menu } from '../parts/ask/menu'
import { counts, countText } from './counts'
import { address, go } from '../base/router'
import { isOf, Noun, offered } from './routes'

const of = (noun: Noun) => noun.count ? counts[noun.count].value : 0

function Entry({ noun }: { noun: Noun }) {
    const number = of(noun)
    const current = isOf(noun, address.value.path)
    return (
        <li>
            <a class="side-link" href={noun.path} aria-current={current ? 'page' : undefined}>
                <span>{noun.name}</span>
                {number > 0 && <span class="side-count number">{countText(noun.count!)}</span>}
            </a>
        </li>
    )
}

export function SideBar() {
    const nouns = offered()
    const byPlace = nouns.filter(noun => noun.phone).sort((a, b) => a.phone! - b.phone!)
    const rest = nouns.filter(noun => !noun.phone)
    const hidden = rest.reduce((sum, noun) => sum + of(noun), 0)
    const shown = isPhone.value ? byPlace.slice(0, rest.length > 0 ? 3 : 4) : nouns
    return (
        <nav class="side" aria-label="Pages">
            <ul>
                {shown.map(noun => <Entry key={noun.path} noun={noun} />)}
                {isPhone.value && rest.length > 0 && <li>
                    <Menu label={<>More{hidden > 0 && <span class="side-count number">{compact(hidden)}</span>}</>}
                        plain end items={rest.map(noun => ({
                            name: of(noun) > 0 ? `${noun.name} (${countText(noun.count!)})` : noun.name,
                            run: () => go(noun.path),
                        }))} />
                </li>}
            </ul>
        </nav>
    )
}
