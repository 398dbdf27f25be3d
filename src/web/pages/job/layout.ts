// Where each job of a graph stands: columns by who waits for whom, those that are waited for at the left. Within a
// column jobs stand near those that they are joined to, and a line that passes a column has a row there. Pure; a
// cycle, which no server makes, ends nowhere.

export interface Edge { from: string, to: string }
export interface Place { id: string, column: number, row: number }

/** The longest way from a job that waits for none. */
function columnsOf(ids: readonly string[], edges: readonly Edge[]): Map<string, number> {
    const column = new Map(ids.map(id => [id, 0]))
    const waits = new Map(ids.map(id => [id, 0]))
    const behind = new Map<string, string[]>(ids.map(id => [id, []]))
    for (const { from, to } of edges) {
        waits.set(to, waits.get(to)! + 1)
        behind.get(from)!.push(to)
    }
    const ready = ids.filter(id => waits.get(id) === 0)
    for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
        for (const next of behind.get(id)!) {
            column.set(next, Math.max(column.get(next)!, column.get(id)! + 1))
            waits.set(next, waits.get(next)! - 1)
            if (waits.get(next) === 0)
                ready.push(next)
        }
    }
    return column
}

export interface Layout {
    places: Place[]
    /** Where an edge, "FROM TO", passes the columns between its ends. */
    passes: Map<string, Place[]>
}

export const edgeKey = (edge: Edge) => `${edge.from} ${edge.to}`

export function layOut(ids: readonly string[], all: readonly Edge[]): Layout {
    const known = new Set(ids)
    const edges = all.filter(edge => known.has(edge.from) && known.has(edge.to))
    const column = columnsOf(ids, edges)
    const columns: string[][] = []
    for (const id of ids)
        (columns[column.get(id)!] ??= []).push(id)
    const before = new Map<string, string[]>(ids.map(id => [id, []]))
    const passing = new Map<string, string>() // a place of its own in each column that an edge passes
    for (const edge of edges) {
        let last = edge.from
        for (let x = column.get(edge.from)! + 1; x < column.get(edge.to)!; x++) {
            const pass = `${edgeKey(edge)} ${x}`
            passing.set(pass, edgeKey(edge))
            columns[x].push(pass)
            before.set(pass, [last])
            last = pass
        }
        before.get(edge.to)!.push(last)
    }
    const row = new Map<string, number>()
    const places: Place[] = []
    const passes = new Map<string, Place[]>()
    for (const [x, list] of [...columns].entries()) {
        const mean = (id: string) => {
            const rows = before.get(id)!.map(one => row.get(one) ?? 0)
            return rows.length > 0 ? rows.reduce((sum, y) => sum + y, 0) / rows.length : 0
        }
        const sorted = [...list ?? []].map((id, i) => ({ id, i, mean: mean(id) }))
            .sort((a, b) => a.mean - b.mean || a.i - b.i)
        for (const [y, { id }] of sorted.entries()) {
            row.set(id, y)
            const edge = passing.get(id)
            if (edge === undefined)
                places.push({ id, column: x, row: y })
            else
                passes.set(edge, [...passes.get(edge) ?? [], { id, column: x, row: y }])
        }
    }
    return { places, passes }
}
