// A button with choices behind it; on a phone they come as a sheet. Arrows move, Esc closes.
import './menu.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export interface MenuItem {
    name: string
    run: () => void
    /** One of several, which is the one that counts. */
    chosen?: boolean
    disabled?: boolean
    danger?: boolean
    /** A line above the first of them. */
    group?: string
}

interface MenuProps {
    label: ComponentChildren
    items: MenuItem[]
    title?: string
    plain?: boolean
    /** Opens to the left. */
    end?: boolean
}

export function Menu({ label, items, title, plain, end }: MenuProps) {
    const [open, setOpen] = useState(false)
    const box = useRef<HTMLSpanElement>(null)
    const button = useRef<HTMLButtonElement>(null)

    const entries = () => [...box.current!.querySelectorAll<HTMLButtonElement>('[role^="menuitem"]:not(:disabled)')]
    const close = (focus: boolean) => {
        setOpen(false)
        if (focus)
            button.current?.focus()
    }
    useEffect(() => {
        if (!open)
            return undefined
        const list = entries()
        ;(list.find(entry => entry.ariaChecked === 'true') ?? list[0])?.focus()
        const outside = (event: Event) => {
            if (!box.current?.contains(event.target as Node))
                setOpen(false)
        }
        document.addEventListener('pointerdown', outside)
        return () => document.removeEventListener('pointerdown', outside)
    }, [open])

    const onKeyDown = (event: KeyboardEvent) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
        if (!open && step) {
            event.preventDefault()
            setOpen(true)
        } else if (open && (event.key === 'Escape' || event.key === 'Tab')) {
            event.stopPropagation()
            close(event.key === 'Escape')
        } else if (open && step) {
            event.preventDefault()
            const list = entries()
            const at = list.indexOf(document.activeElement as HTMLButtonElement)
            list[(at + step + list.length) % list.length]?.focus()
        }
    }
    return (
        <span ref={box} class="menu" onKeyDown={onKeyDown}>
            <button ref={button} class={`button${plain ? ' plain' : ''}`} type="button" title={title}
                aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
                {label}<span class="menu-mark" aria-hidden="true" />
            </button>
            {open && <div class={`menu-list${end ? ' menu-end' : ''}`} role="menu">
                {items.map((item, i) => <>
                    {item.group && items[i - 1]?.group !== item.group &&
                        <div class="menu-group" role="presentation">{item.group}</div>}
                    <button key={item.name} type="button" tabIndex={-1} disabled={item.disabled}
                        class={`menu-item${item.danger ? ' hue-bad' : ''}`}
                        role={item.chosen === undefined ? 'menuitem' : 'menuitemradio'} aria-checked={item.chosen}
                        onClick={() => { close(true); item.run() }}>
                        {item.chosen !== undefined && <span class="menu-chosen" aria-hidden="true">
                            {item.chosen ? '✓' : ''}</span>}
                        {item.name}
                    </button>
                </>)}
            </div>}
        </span>
    )
}
