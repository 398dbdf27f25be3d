// Tabs of a detail page. Each is an address of its own, so they are links.
import './tabs.css'
import { useEffect, useRef } from 'preact/hooks'
import { compact } from '../../base/format'

export interface Tab { key: string, name: string, href: string, count?: number }

export function Tabs({ tabs, current, label }: { tabs: readonly Tab[], current: string, label: string }) {
    const box = useRef<HTMLElement>(null)
    useEffect(() => { // on a phone it may be beyond the edge; nothing else is scrolled
        const tab = box.current?.querySelector<HTMLElement>('[aria-current]')
        if (tab)
            box.current!.scrollLeft = tab.offsetLeft - box.current!.offsetLeft -
                (box.current!.clientWidth - tab.offsetWidth) / 2
    }, [current])
    return (
        <nav ref={box} class="tabs" aria-label={label}>
            {tabs.map(tab => <a key={tab.key} href={tab.href} class="tab"
                aria-current={tab.key === current ? 'page' : undefined}>
                {tab.name}{tab.count !== undefined && <span class="soft number"> {compact(tab.count)}</span>}
            </a>)}
        </nav>
    )
}
