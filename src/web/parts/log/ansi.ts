// What a program wrote for a terminal, as pieces of text with a style. Pure.
//
// Colours are those of the dashboard: eight hues, into which 256 colours and true colours are sorted, so that all
// of them can be read in both themes. Sequences for anything but looks are left out, with what they carry; one that
// is not closed hides nothing. A carriage return writes over the line, as progress bars want it. Everything else that
// cannot be seen is drawn as a sign (␛, ␇), and nothing that is hidden for a terminal is hidden here.

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
export interface Span { text: string, style: Style }

export const PLAIN: Style = {
    fg: null, bg: null, bold: false, dim: false, italic: false, under: false, strike: false, turned: false,
}

/** Sequences that can be drawn at once; behind them the rest of a line is plain. */
const SPANS_MAX = 100

/* A CSI sequence (its parameters and its last letter), a string (OSC and its like) that is closed, any other escape,
   or a control character. No two alternatives share long beginnings: the time is linear. */
const control =
    /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]|[\x00-\x08\x0a-\x1f\x7f-\x9f]/g
const anyControl = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/

export function hueOfRgb(r: number, g: number, b: number): Hue {
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
function restyle(before: Style, params: string): Style {
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

/** A line as it is written: at its end, until something goes back; from then on character by character. */
class Line {
    private readonly spans: Span[] = []
    private cells: Span[] | null = null
    private at = 0

    put(text: string, style: Style): void {
        if (this.cells) {
            for (const char of text)
                this.cells[this.at++] = { text: char, style }
            return
        }
        const last = this.spans[this.spans.length - 1]
        if (last && (last.style === style || this.spans.length >= SPANS_MAX))
            last.text += text
        else if (text)
            this.spans.push({ text, style: this.spans.length + 1 < SPANS_MAX ? style : PLAIN })
    }

    back(all: boolean): void {
        if (!this.cells) {
            this.cells = this.spans.flatMap(({ text, style }) => Array.from(text, char => ({ text: char, style })))
            this.at = this.cells.length
        }
        this.at = all ? 0 : Math.max(0, this.at - 1)
    }

    /** 0: behind where it is, 1: before that, 2: all. Before a first return there is nothing behind the end. */
    erase(kind: number): void {
        if (kind > 0 && !this.cells) {
            this.back(false)
            this.at = this.cells!.length
        }
        if (!this.cells)
            return
        for (let i = 0; kind > 0 && i < Math.min(this.at, this.cells.length); i++)
            this.cells[i] = { text: ' ', style: PLAIN }
        if (kind !== 1)
            this.cells.length = Math.min(this.at, this.cells.length)
    }

    end(): Span[] {
        if (!this.cells)
            return this.spans
        const whole = new Line()
        for (const { text, style } of this.cells)
            whole.put(text, style)
        return whole.spans
    }
}

const sign = (code: number) => String.fromCharCode(code < 0x20 ? 0x2400 + code : code === 0x7f ? 0x2421 : 0xfffd)

/** The pieces of a line, and the style that it leaves to the next one. */
export function parse(text: string, before: Style = PLAIN): { spans: Span[], after: Style } {
    if (!anyControl.test(text))
        return { spans: text ? [{ text, style: before }] : [], after: before }
    const line = new Line()
    let style = before
    let done = 0
    for (const found of text.matchAll(control)) {
        const [all, params, letter] = found
        line.put(text.slice(done, found.index), style)
        done = found.index! + all.length
        if (letter === 'm' && !/[<-?]/.test(params))
            style = restyle(style, params)
        else if (letter === 'K')
            line.erase(Number(params) || 0)
        else if (all === '\r' || all === '\b')
            line.back(all === '\r')
        else if (all.length === 1)
            line.put(sign(all.charCodeAt(0)), style)
    }
    line.put(text.slice(done), style)
    return { spans: line.end(), after: style }
}

/** What one reads: for searching. */
export function plain(text: string): string {
    return anyControl.test(text) ? parse(text).spans.map(span => span.text).join('') : text
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
