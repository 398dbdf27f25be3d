// A row of bars over time: how many in each step. Each says its numbers on hover, and may be a link.
import './strip.css'

export interface Cell {
    key: string
    value: number
    /** Drawn lighter on top: what is there but does not count. */
    beside?: number
    /** Drawn in another hue. */
    isChosen?: boolean
    title: string
    href?: string
    /** Below the bar, where it is not empty. */
    label?: string
}

export function Strip({ cells, label }: { cells: readonly Cell[], label: string }) {
    const most = Math.max(1, ...cells.map(cell => cell.value + (cell.beside ?? 0)))
    const height = (value: number) => value === 0 ? '0' : `max(2px, ${value / most * 100}%)`
    return (
        <div class="strip" role="list" aria-label={label}>
            {cells.map(cell => {
                const bar = <>
                    <span class="strip-bars">
                        {!!cell.beside && <span class="strip-beside" style={{ height: height(cell.beside) }} />}
                        <span class="strip-bar" style={{ height: height(cell.value) }} />
                    </span>
                    <span class="strip-label number">{cell.label}</span>
                </>
                return <span key={cell.key} role="listitem" title={cell.title}
                    class={`strip-cell${cell.isChosen ? ' is-chosen' : ''}`}>
                    {cell.href ? <a href={cell.href} aria-label={cell.title}>{bar}</a>
                        : <><span class="hidden-text">{cell.title}</span>{bar}</>}
                </span>
            })}
        </div>
    )
}
