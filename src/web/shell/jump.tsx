// Search or jump: pages by name, jobs by the beginning of theirs, anything by its id, and actions. Ctrl-K opens it.
import './jump.css'
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Status } from '../parts/show/status'
import { Hit, NEWEST, useHits } from './hits'

const isOpen = signal(false)

export function openJump(): void {
    isOpen.value = true
}

function Body() {
    const [text, setText] = useState('')
    const [at, setAt] = useState(0)
    const hits = useHits(text.trim())
    const list = useRef<HTMLUListElement>(null)
    useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }), [at])
    const open = (hit: Hit | undefined) => {
        if (!hit)
            return
        isOpen.value = false
        hit.run()
    }
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault()
            const step = event.key === 'ArrowDown' ? 1 : -1
            setAt((at + step + hits.length) % Math.max(hits.length, 1))
        } else if (event.key === 'Enter')
            open(hits[at])
    }
    return (
        <>
            <input class="jump-input" role="combobox" aria-expanded="true" aria-controls="jump-hits" autoFocus
                aria-label="Search or jump" placeholder="A page, a job's name, an id, or: pause NAME" value={text}
                aria-activedescendant={hits[at] ? `jump-${at}` : undefined} autocomplete="off" spellcheck={false}
                onInput={event => { setText(event.currentTarget.value); setAt(0) }} onKeyDown={onKeyDown} />
            <ul ref={list} id="jump-hits" role="listbox" aria-label="Found">
                {hits.map((hit, i) => (
                    <li key={hit.key} id={`jump-${i}`} role="option" aria-selected={i === at} class="jump-hit"
                        onClick={() => open(hit)} onMouseMove={() => setAt(i)}>
                        <span>{hit.name}</span>
                        <span class="soft">{hit.phase ? <Status state={hit.phase} /> : hit.kind}</span>
                    </li>
                ))}
                {hits.length === 0 && <li class="jump-hit soft" role="presentation">
                    No page or name begins like that. Parts of ids are looked for among the newest {NEWEST}.</li>}
            </ul>
        </>
    )
}

export function Jump() {
    const dialog = useRef<HTMLDialogElement>(null)
    useEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
                event.preventDefault()
                isOpen.value = !isOpen.value
            }
        }
        addEventListener('keydown', onKey)
        return () => removeEventListener('keydown', onKey)
    }, [])
    const open = isOpen.value
    useLayoutEffect(() => { // at once: the next key may come before anything is painted
        if (open && !dialog.current!.open) {
            dialog.current!.showModal()
            dialog.current!.querySelector('input')?.focus()
        } else if (!open)
            dialog.current!.close()
    }, [open])
    return (
        <dialog ref={dialog} class="jump" aria-label="Search or jump"
            onClose={() => { isOpen.value = dialog.current!.open /* it may be open again */ }}
            onCancel={() => { isOpen.value = false }}
            onClick={event => { if (event.target === dialog.current) isOpen.value = false }}>
            {open && <Body />}
        </dialog>
    )
}
