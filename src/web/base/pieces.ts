// Long work in short pieces, so that whoever scrolls or types meanwhile does not feel it.

/** Work is done in pieces of so many milliseconds, and whatever else is to do comes between. */
const PIECE_MS = 8

export const rest = (): Promise<void> => new Promise(resolve => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
        port1.close()
        resolve()
    }
    port2.postMessage(null)
})

/** Does it with each, without holding anything up. Ends early when that returns false. */
export async function inPieces<T>(all: readonly T[], work: (one: T, at: number) => boolean | void): Promise<void> {
    let end = performance.now() + PIECE_MS
    for (let i = 0; i < all.length; i++) {
        if (work(all[i], i) === false)
            return
        if (performance.now() > end) {
            await rest()
            end = performance.now() + PIECE_MS
        }
    }
}
