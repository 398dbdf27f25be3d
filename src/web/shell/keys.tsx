// The keys of the keyboard: g and a letter goes to a page, ? shows them all. None of them is heard while one types.
import './keys.css'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { go } from '../base/router'
import { Dialog } from '../parts/ask/dialog'
import { offered } from './routes'

const GO_MS = 1500 // so long after g a letter is still its second half

/** By the path of the page. */
const letters: Record<string, string> = {
    '/': 'o', '/jobs': 'j', '/executions': 'e', '/timeline': 'i', '/queues': 'q', '/dead-letters': 'd',
    '/workers': 'w', '/alerts': 'a', '/breakers': 'b', '/calendars': 'c', '/schedule': 'f', '/slas': 'l',
    '/operations': 'p', '/cron': 't', '/cluster': 'u', '/settings': 's',
}

const others: [string[], string][] = [
    [['Ctrl K', '⌘ K'], 'search or jump: pages, jobs by name, ids, actions'],
    [['?'], 'this sheet'],
    [['↓', 'j'], 'the next row of a list'],
    [['↑', 'k'], 'the row before'],
    [['Enter'], 'open the row'],
    [['Space'], 'pick the row'],
    [['Esc'], 'close what floats'],
]

const isOpen = signal(false)
export const openKeys = () => { isOpen.value = true }

const isTyping = (target: EventTarget | null) => target instanceof Element &&
    !!target.closest('input, textarea, select, [contenteditable]')
/** A log has letters of its own: g is its beginning, w wraps it. */
const hasOwnKeys = (target: EventTarget | null) => target instanceof Element && !!target.closest('[data-own-keys]')

function useKeys(): void {
    useEffect(() => {
        let goAt = 0
        const onKey = (event: KeyboardEvent) => {
            if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target) ||
                document.querySelector('dialog[open]'))
                return
            const isGoing = Date.now() - goAt < GO_MS
            goAt = 0
            if (event.key === '?')
                openKeys()
            else if (hasOwnKeys(event.target))
                return
            else if (isGoing) {
                const noun = offered().find(one => letters[one.path] === event.key)
                if (noun) {
                    event.preventDefault()
                    event.stopPropagation() // j is also the next row
                    go(noun.path)
                }
            } else if (event.key === 'g')
                goAt = Date.now()
        }
        addEventListener('keydown', onKey, true)
        return () => removeEventListener('keydown', onKey, true)
    }, [])
}

const Row = ({ keys, what }: { keys: string[], what: string }) => (
    <>
        <dt>{keys.map(key => <kbd key={key}>{key}</kbd>)}</dt>
        <dd>{what}</dd>
    </>
)

export function Keys() {
    useKeys()
    if (!isOpen.value)
        return null
    const close = () => { isOpen.value = false }
    return (
        <Dialog title="Keys" onClose={close}>
            <dl class="keys">
                {others.map(([keys, what]) => <Row key={what} keys={keys} what={what} />)}
                {offered().filter(noun => letters[noun.path]).map(noun =>
                    <Row key={noun.path} keys={['g', letters[noun.path]]} what={noun.name} />)}
            </dl>
            <div class="dialog-buttons">
                <button class="button" type="button" autoFocus onClick={close}>Close</button>
            </div>
        </Dialog>
    )
}
