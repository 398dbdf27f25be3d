// A window over the page; on a phone a sheet at the bottom. The browser keeps the focus inside and Esc closes it.
import './dialog.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export function Dialog({ title, onClose, children }: {
    title: string, onClose: () => void, children: ComponentChildren,
}) {
    const dialog = useRef<HTMLDialogElement>(null)
    useEffect(() => {
        const before = document.activeElement as HTMLElement | null
        dialog.current!.showModal()
        return () => before?.focus?.()
    }, [])
    return (
        <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onClose}
            onClick={event => { if (event.target === dialog.current) dialog.current!.close() }}>
            <div class="dialog-inner">
                <h2 id="dialog-title">{title}</h2>
                {children}
            </div>
        </dialog>
    )
}
