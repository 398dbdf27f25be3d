// How high the rows of a very long list are, and so where each begins: as high as most of them until one was
// measured. Pure; only what differs is kept.

const BLOCK = 512

export class Heights {
    private readonly blocks = new Map<number, { more: number, of: Float32Array }>()
    count = 0

    /** Pixels of a row that was not measured. */
    constructor(readonly usual: number) {}

    /** Forgets what was measured: the width has changed. */
    clear(): void {
        this.blocks.clear()
    }

    /** Whether that is news. */
    set(row: number, height: number): boolean {
        const at = Math.floor(row / BLOCK)
        let block = this.blocks.get(at)
        if (!block) {
            if (height === this.usual)
                return false
            block = { more: 0, of: new Float32Array(BLOCK) }
            this.blocks.set(at, block)
        }
        const more = Math.fround(height - this.usual)
        const before = block.of[row % BLOCK]
        block.of[row % BLOCK] = more
        block.more += more - before
        return more !== before
    }

    /** Where a row begins; that behind the last is the height of all. */
    top(row: number): number {
        let more = 0
        const within = Math.floor(row / BLOCK)
        for (const [at, block] of this.blocks) {
            if (at < within)
                more += block.more
        }
        const own = this.blocks.get(within)
        for (let i = 0; own && i < row % BLOCK; i++)
            more += own.of[i]
        return row * this.usual + more
    }

    get total(): number {
        return this.top(this.count)
    }

    /** The row at this many pixels. */
    at(y: number): number {
        let low = 0
        let high = Math.max(0, this.count - 1)
        while (low < high) {
            const middle = Math.ceil((low + high) / 2)
            if (this.top(middle) <= y)
                low = middle
            else
                high = middle - 1
        }
        return low
    }
}
