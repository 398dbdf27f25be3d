// Output that a program wrote for a terminal, as pieces of text with a style. Pure.
//
// Sequences for anything but looks are left out, with what they carry; one that is not closed hides nothing. A
// carriage return writes over the line, as progress bars want it. Everything else that cannot be seen is drawn as a
// sign (␇), and text that is hidden on a terminal is not hidden here.
import { PLAIN, restyle, Style } from './style'

export interface Span { text: string, style: Style }

/** Sequences that can be drawn at once; behind them the rest of a line is plain. */
const SPANS_MAX = 100
const ERASED_MAX = 100 // how often a line may be erased: each time costs its length

/* A CSI sequence (its parameters and its last letter), a string (OSC and its like) that is closed, any other escape,
   or a control character. No two alternatives share long beginnings: the time is linear. */
const control = new RegExp([
    /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])/, /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/, /\x1b[PX^_][^\x1b]*\x1b\\/,
    /\x1b[ -/]*[0-~]/, /[\x00-\x08\x0a-\x1f\x7f-\x9f]/,
].map(one => one.source).join('|'), 'g')
const anyControl = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/

/** A line as it is written: at its end, until something goes back; from then on character by character. */
class Line {
    private readonly spans: Span[] = []
    private cells: Span[] | null = null
    private at = 0
    private erased = 0

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
        if (!this.cells || this.erased++ > ERASED_MAX)
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
