// Addresses: where one is, and how to get elsewhere. Filters live in the query, so that an address told to
// somebody shows the same. Links are plain <a href>; a click on one of ours loads nothing.
import { computed, signal } from '@preact/signals'
import { Query, printQuery } from './query'

/** Of a page: what stands for the names in its address. */
export interface PageProps { params: Record<string, string> }

interface Address { path: string, search: string, hash: string }

const here = (): Address => ({ path: location.pathname, search: location.search, hash: location.hash })
export const address = signal<Address>(here())
export const query = computed(() => new URLSearchParams(address.value.search))

const scrolls = new Map<number, number>() // of each entry of the history, how far down it was
let entry = 0

const main = () => document.getElementById('main')

function enter(url: string, replace: boolean): void {
    scrolls.set(entry, main()?.scrollTop ?? 0)
    if (replace)
        history.replaceState({ entry }, '', url)
    else
        history.pushState({ entry: ++entry }, '', url)
    const before = address.value.path
    address.value = here()
    if (!replace && before !== address.value.path)
        main()?.scrollTo(0, 0)
}

/** To another page, or the same with other filters. */
export function go(url: string, { replace = false } = {}): void {
    if (url !== location.pathname + location.search + location.hash)
        enter(url, replace)
}

/** Sets parameters of this address and leaves the others; null, '' and [] take one away. */
export function setQuery(patch: Query, { replace = false } = {}): void {
    const query: Query = {}
    const now = new URLSearchParams(address.value.search)
    for (const name of new Set(now.keys()))
        query[name] = now.getAll(name)
    go(address.value.path + printQuery({ ...query, ...patch }) + address.value.hash, { replace })
}

/** Whoever has changed the address without this file says so: a code that was taken out of it is not to come back. */
export function readAddress(): void {
    address.value = here()
}

/** Where a link leads, if that is a page of ours; those of a drawing (SVG) are told otherwise. */
function pageOf(link: Element): URL | null {
    const href = link.getAttribute('href')
    if (href === null || href.startsWith('#') || link.hasAttribute('target') || link.hasAttribute('download'))
        return null
    const url = new URL(href, location.href)
    const isPage = url.origin === location.origin && !/^\/(api|assets)\/|^\/openapi\.json$|^\/\//.test(url.pathname)
    return isPage ? url : null
}

/** Once, at the beginning. */
export function startRouter(): void {
    readAddress()
    history.scrollRestoration = 'manual'
    entry = history.state?.entry ?? 0
    history.replaceState({ entry }, '')
    addEventListener('popstate', event => {
        scrolls.set(entry, main()?.scrollTop ?? 0)
        readAddress()
        if (event.state === null) { // a link within the page, which the browser has followed by itself
            history.replaceState({ entry: ++entry }, '')
            return
        }
        entry = event.state.entry ?? 0
        requestAnimationFrame(() => main()?.scrollTo(0, scrolls.get(entry) ?? 0))
    })
    document.addEventListener('click', event => {
        const link = (event.target as Element).closest?.('a')
        if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey ||
            event.altKey)
            return
        const url = pageOf(link)
        if (!url)
            return
        event.preventDefault()
        go(url.pathname + url.search + url.hash)
    })
}
