// Nothing here yet: why, the command that changes that, and what will then appear.
import './empty.css'
import type { ComponentChildren } from 'preact'
import { Code } from './code'

export function Empty({ title, command, children }: {
    title: string, command?: string, children?: ComponentChildren,
}) {
    return (
        <div class="empty">
            <p class="empty-title">{title}</p>
            {command && <Code text={command} label="command" />}
            {children && <div class="soft">{children}</div>}
        </div>
    )
}
