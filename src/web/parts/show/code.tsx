// Text as it is, with a button that copies it. What users wrote is text, never HTML.
import './code.css'
import { copy } from '../ask/toast'

export function Code({ text, label = 'text', wrap = false }: { text: string, label?: string, wrap?: boolean }) {
    return (
        <div class="code">
            <pre class={`mono${wrap ? ' code-wrap' : ''}`} tabIndex={0} aria-label={label}>{text}</pre>
            <button class="button plain small" type="button" aria-label={`Copy the ${label}`}
                onClick={() => void copy(text)}>Copy</button>
        </div>
    )
}
