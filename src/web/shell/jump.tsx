// Search or jump: pages by name, jobs by the beginning of theirs, anything by its id. Ctrl-K opens it.
import './jump.css'
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { JobList } from 'openapi'
import { useResource } from '../api/resource'
import { part } from '../base/query'
import { Status } from '../parts/show/status'
import { go } from '../base/router'
import { nouns } from './routes'

const isOpen = signal(false)

export function openJump(): void {
    isOpen.value = true
}

interface Hit { key: string, name: string, kind: string, href: string, phase?: string }

/** A star in a name would be any text. */
const prefix = (text: string) => text.replace(/[\\*]/g, '\\$&') + '*'

function useHits(text: string): Hit[] {
    const [asked, ask] = useState('')
    useEffect(() => {
        const timer = setTimeout(() => ask(text), 150)
        return () => clearTimeout(timer)
    }, [text])
    const isId = /^(job|exec)_\w/.test(text)
    const jobs = useResource<JobList>(asked.length < 2 || isId ? null : '/jobs',
        { name: prefix(asked), limit: 8, fields: 'job_id,name,phase' }, { keep: true })
    const hits: Hit[] = nouns.filter(noun => noun.name.toLowerCase().includes(text.toLowerCase()))
        .map(noun => ({ key: noun.path, name: noun.name, kind: 'page', href: noun.path }))
    if (isId)
        hits.unshift({
            key: text, name: text, kind: text.startsWith('job_') ? 'job' : 'execution',
            href: `/${text.startsWith('job_') ? 'jobs' : 'executions'}/${part(text)}`,
        })
    for (const job of text.length < 2 ? [] : jobs.data?.jobs ?? [])
        hits.push({ key: job.job_id, name: String(job.name ?? job.job_id), kind: 'job', phase: job.phase,
            href: `/jobs/${job.job_id}` })
    return hits
}

function Body() {
    const [text, setText] = useState('')
    const [at, setAt] = useState(0)
    const hits = useHits(text.trim())
    const open = (hit: Hit | undefined) => {
        if (!hit)
            return
        isOpen.value = false
        go(hit.href)
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
                aria-label="Search or jump" placeholder="A page, a job's name, or an id" value={text}
                aria-activedescendant={hits[at] ? `jump-${at}` : undefined} autocomplete="off" spellcheck={false}
                onInput={event => { setText(event.currentTarget.value); setAt(0) }} onKeyDown={onKeyDown} />
            <ul id="jump-hits" role="listbox" aria-label="Found">
                {hits.map((hit, i) => (
                    <li key={hit.key} id={`jump-${i}`} role="option" aria-selected={i === at} class="jump-hit"
                        onClick={() => open(hit)} onMouseMove={() => setAt(i)}>
                        <span>{hit.name}</span>
                        <span class="soft">{hit.phase ? <Status state={hit.phase} /> : hit.kind}</span>
                    </li>
                ))}
                {hits.length === 0 && <li class="jump-hit soft" role="presentation">Nothing begins like that.</li>}
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
    useEffect(() => {
        if (open && !dialog.current!.open) {
            dialog.current!.showModal()
            dialog.current!.querySelector('input')?.focus()
        } else if (!open)
            dialog.current!.close()
    }, [open])
    return (
        <dialog ref={dialog} class="jump" aria-label="Search or jump" onClose={() => { isOpen.value = false }}
            onClick={event => { if (event.target === dialog.current) isOpen.value = false }}>
            {open && <Body />}
        </dialog>
    )
}
