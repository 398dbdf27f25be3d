// How something is: a shape and a word, besides a colour.
import './status.css'
import { shapes, Shape as ShapeName, state as find } from '../../base/states'

export function Shape({ shape, filled = false }: { shape: ShapeName, filled?: boolean }) {
    return (
        <svg class="shape" viewBox="0 0 12 12" aria-hidden="true">
            <path d={shapes[shape]} fill={filled || shape === 'disc' ? 'currentColor' : 'none'}
                stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"
                stroke-dasharray={shape === 'ring' ? '2 1.6' : undefined} />
        </svg>
    )
}

/** `word` says it otherwise than the state's own word; `title` is told on hover. */
export function Status({ state, word, title }: { state: string, word?: string, title?: string }) {
    const { hue, shape, word: own } = find(state)
    return (
        <span class={`status hue-${hue}${shape === 'disc' ? ' status-runs' : ''}`} title={title}>
            <Shape shape={shape} />
            <span>{word ?? own}</span>
        </span>
    )
}
