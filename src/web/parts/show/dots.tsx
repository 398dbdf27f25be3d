// The last outcomes, the newest at the right: a shape each, and the whole in words for those who do not see them.
import './dots.css'
import { count } from '../../base/format'
import { state } from '../../base/states'
import { Shape } from './status'

export interface Dot { key: string, state: string, title?: string, href?: string }

export function Dots({ dots, none = 'has not run' }: { dots: readonly Dot[], none?: string }) {
    if (dots.length === 0)
        return <span class="soft small">{none}</span>
    const sums = new Map<string, number>()
    for (const dot of dots)
        sums.set(state(dot.state).word, (sums.get(state(dot.state).word) ?? 0) + 1)
    const said = [...sums].map(([word, n]) => `${n} ${word}`).join(', ')
    return (
        <span class="dots" role="group" aria-label={`${count(dots.length, 'last run')}: ${said}`}>
            {dots.map(dot => {
                const { hue, shape, word } = state(dot.state)
                const title = dot.title ? `${word}, ${dot.title}` : word
                return dot.href
                    ? <a key={dot.key} class={`dot hue-${hue}`} href={dot.href} title={title} aria-label={title}
                        tabIndex={-1}><Shape shape={shape} /></a>
                    : <span key={dot.key} class={`dot hue-${hue}`} title={title}><Shape shape={shape} /></span>
            })}
        </span>
    )
}
