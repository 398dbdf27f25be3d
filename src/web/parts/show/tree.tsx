// JSON as a tree: objects and lists fold, values are as they were sent.
import './tree.css'

const DEPTH_OPEN = 2
const CHILDREN_MAX = 200 // shown at once; the rest is counted

function Leaf({ value }: { value: unknown }) {
    const kind = value === null ? 'null' : typeof value
    return <span class={`tree-${kind}`}>{JSON.stringify(value)}</span>
}

export function Tree({ value, name, depth = 0 }: { value: unknown, name?: string, depth?: number }) {
    const label = name !== undefined && <span class="tree-name">{name}: </span>
    if (value === null || typeof value !== 'object')
        return <div class="tree mono">{label}<Leaf value={value} /></div>
    const entries = Object.entries(value)
    const isList = Array.isArray(value)
    const said = isList ? `[${entries.length}]` : `{${entries.length}}`
    if (entries.length === 0)
        return <div class="tree mono">{label}{isList ? '[]' : '{}'}</div>
    return (
        <details class="tree mono" open={depth < DEPTH_OPEN}>
            <summary>{label}<span class="soft">{said}</span></summary>
            <div class="tree-inner">
                {entries.slice(0, CHILDREN_MAX).map(([key, child]) =>
                    <Tree key={key} name={key} value={child} depth={depth + 1} />)}
                {entries.length > CHILDREN_MAX &&
                    <div class="soft">… and {entries.length - CHILDREN_MAX} more</div>}
            </div>
        </details>
    )
}
