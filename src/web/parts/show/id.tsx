// An id: short, whole on hover, copied by a click.
import './id.css'
import { shortId } from '../../base/format'
import { copy } from '../ask/toast'

export function Id({ id, href }: { id: string, href?: string }) {
    const short = shortId(id)
    return (
        <span class="id mono" title={id}>
            {href ? <a href={href}>{short}</a> : <span>{short}</span>}
            <button class="id-copy" type="button" aria-label={`Copy ${id}`} onClick={event => {
                event.preventDefault()
                event.stopPropagation()
                void copy(id)
            }}>
                <svg viewBox="0 0 12 12" aria-hidden="true"><path d="M4 4h6v6H4ZM8 4V2H2v6h2" fill="none"
                    stroke="currentColor" stroke-width="1.2" /></svg>
            </button>
        </span>
    )
}
