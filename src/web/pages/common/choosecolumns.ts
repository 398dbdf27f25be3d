// The columns of a list that one has chosen, kept by the browser; the first is always there.
import { signal } from '@preact/signals'
import { recall, remember } from '../../base/keep'
import type { MenuItem } from '../../parts/ask/menu'
import type { Column } from '../../parts/list/table'

/** `name` is that of the list; `usual` are the keys of those that are there at first. */
export function chooseColumns<T>(name: string, columns: readonly Column<T>[], usual: readonly string[]) {
    const chosen = signal<readonly string[]>(recall(`${name}.columns`, usual))
    const toggle = (key: string) => {
        const on = chosen.value.includes(key)
        chosen.value = on ? chosen.value.filter(one => one !== key) : [...chosen.value, key]
        remember(`${name}.columns`, chosen.value)
    }
    return {
        shown: () => columns.filter((column, i) => i === 0 || chosen.value.includes(column.key)),
        items: (): MenuItem[] => columns.slice(1).map(column => ({
            name: column.name, chosen: chosen.value.includes(column.key), run: () => toggle(column.key),
        })),
    }
}
