// How text of a terminal looks: what "\x1b[…m" asks for, and the classes that draw it. Pure.
//
// Colours are those of the dashboard: eight hues, into which 256 colours and true colours are sorted, so that all
// of them can be read in both themes.

export const hues = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
export type Hue = typeof hues[number]

export interface Style {
    fg: Hue | null
    bg: Hue | null
    bold: boolean
    dim: boolean
    italic: boolean
    under: boolean
    strike: boolean
    turned: boolean // fore- and background change places
}
export const PLAIN: Style = {
    fg: null, bg: null, bold: false, dim: false, italic: false, under: false, strike: false, turned: false,
}

function hueOfRgb(r: number, g: number, b: number): Hue {
    const most = Math.max(r, g, b)
    const least = Math.min(r, g, b)
    if (most - least < 40)
        return most < 150 ? 'black' : 'white'
    const turn = most === r ? (g - b) / (most - least) : most === g ? 2 + (b - r) / (most - least)
        : 4 + (r - g) / (most - least)
    const degrees = (turn * 60 + 360) % 360
    return degrees < 20 || degrees >= 335 ? 'red' : degrees < 75 ? 'yellow' : degrees < 160 ? 'green'
        : degrees < 200 ? 'cyan' : degrees < 265 ? 'blue' : 'magenta'
}

/** One of 256: eight, their bright ones, a cube of six by six by six, greys. */
function hueOfIndex(n: number): Hue | null {
    if (!(n >= 0 && n < 256))
        return null
    if (n < 16)
        return n === 8 ? 'black' : hues[n % 8]
    if (n >= 232)
        return hueOfRgb((n - 232) * 10 + 8, (n - 232) * 10 + 8, (n - 232) * 10 + 8)
    const level = (step: number) => step === 0 ? 0 : 55 + step * 40
    const at = n - 16
    return hueOfRgb(level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6))
}

/** "38;5;208" and "38:5:208", "38;2;R;G;B" and "38:2::R:G:B": the hue, and how many parameters it took. */
function extended(groups: string[], at: number): [Hue | null, number] {
    const inner = groups[at].split(':')
    const list = (inner.length > 1 ? inner : groups.slice(at, at + 5)).map(text => Number(text || 0))
    const taken = inner.length > 1 ? 1 : list[1] === 5 ? 3 : list[1] === 2 ? 5 : groups.length
    if (list[1] === 5)
        return [hueOfIndex(list[2]), taken]
    if (list[1] === 2)
        return [hueOfRgb(...list.slice(inner.length > 5 ? 3 : 2).slice(0, 3).map(n => n || 0) as
            [number, number, number]), taken]
    return [null, taken]
}

const switches: Record<number, Partial<Style>> = {
    1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { under: true }, 7: { turned: true },
    9: { strike: true }, 21: { under: true }, 22: { bold: false, dim: false }, 23: { italic: false },
    24: { under: false }, 27: { turned: false }, 29: { strike: false }, 39: { fg: null }, 49: { bg: null },
}

const styles = new Map<string, Style>()

/** Equal styles are one object: there are not many. */
function same(style: Style): Style {
    const key = Object.values(style).join()
    const found = styles.get(key)
    if (!found)
        styles.set(key, style)
    return found ?? style
}
same(PLAIN)

/** The style behind "\x1b[PARAMSm". */
export function restyle(before: Style, params: string): Style {
    let style = before
    const groups = params.split(';')
    for (let i = 0; i < groups.length; i++) {
        const n = Number.parseInt(groups[i] || '0', 10)
        if (n === 0)
            style = PLAIN
        else if (n === 38 || n === 48) {
            const [hue, taken] = extended(groups, i)
            style = { ...style, [n === 38 ? 'fg' : 'bg']: hue }
            i += taken - 1
        } else if (n === 4 && groups[i] === '4:0')
            style = { ...style, under: false }
        else if (switches[n])
            style = { ...style, ...switches[n] }
        else if (n >= 30 && n <= 37 || n >= 90 && n <= 97)
            style = { ...style, fg: n === 90 ? 'black' : hues[n % 10] }
        else if (n >= 40 && n <= 47 || n >= 100 && n <= 107)
            style = { ...style, bg: n === 100 ? 'black' : hues[n % 10] }
    }
    return same(style)
}

/** Names of classes, of parts/log/log.css. */
export function classOf(style: Style): string {
    if (style === PLAIN)
        return ''
    const [fg, bg] = style.turned ? [style.bg, style.fg ?? 'white'] : [style.fg, style.bg]
    const names = [fg && `fg-${fg}`, bg && `bg-${bg}`, ...(['bold', 'dim', 'italic', 'under', 'strike'] as const)
        .map(mark => style[mark] && `is-${mark}`)]
    return names.filter(Boolean).join(' ')
}
