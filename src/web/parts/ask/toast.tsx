// Messages about what has happened, shown once at the edge, with a way back where there is one.
import './toast.css'
import { signal } from '@preact/signals'

export interface ToastWish {
    kind?: 'plain' | 'bad'
    undo?: () => void
    link?: { name: string, href: string }
    /** How long it stays; one with a way back stays longer. */
    ms?: number
}
interface Shown extends ToastWish { id: number, text: string }

const shown = signal<Shown[]>([])
let next = 1
const LOOK_MS = 1000

const close = (id: number) => {
    shown.value = shown.value.filter(one => one.id !== id)
}

/** When its time is over, unless it is being read or about to be clicked. */
function expire(id: number): void {
    if (document.querySelector(`[data-toast="${id}"]:is(:hover, :focus-within)`))
        setTimeout(() => expire(id), LOOK_MS)
    else
        close(id)
}

export function toast(text: string, wish: ToastWish = {}): void {
    const id = next++
    shown.value = [...shown.value.slice(-2), { ...wish, id, text }]
    setTimeout(() => expire(id), wish.ms ?? (wish.undo || wish.kind === 'bad' ? 10_000 : 4000))
}

export async function copy(text: string): Promise<void> {
    try {
        await navigator.clipboard.writeText(text)
        toast('Copied.')
    } catch {
        toast(`This browser does not let a page copy. It is: ${text}`, { kind: 'bad' })
    }
}

export function ToastHost() {
    return (
        <div class="toasts" role="status" aria-live="polite">
            {shown.value.map(({ id, text, kind, undo, link }) => (
                <div key={id} class={`toast toast-${kind ?? 'plain'}`} data-toast={id}>
                    <span>{text}</span>
                    {link && <a href={link.href} onClick={() => close(id)}>{link.name}</a>}
                    {undo && <button class="button plain" type="button" onClick={() => { undo(); close(id) }}>
                        Undo</button>}
                    <button class="button plain" type="button" aria-label="Close" onClick={() => close(id)}>×</button>
                </div>
            ))}
        </div>
    )
}
