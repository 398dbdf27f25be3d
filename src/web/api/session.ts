// Whether there is somebody, and who. The cookie itself is not for scripts to see.
import { signal } from '@preact/signals'
import type { Me } from 'openapi'

/** null: it is not known yet, or nobody. */
export const me = signal<Me | null>(null)
/** A call was refused for want of a session: the page to sign in is shown instead of any other. */
export const needsSignIn = signal(false)

/** The code of a link that `belfry dashboard` printed, until it has been sent. It stands behind '#', and is taken out
 *  of the address and of the history before anything else is done: it is nobody else's to see. */
export const pendingCode = signal<string | null>(null)

export function takeCode(): void {
    const code = new URLSearchParams(location.hash.slice(1)).get('code')
    if (code !== null) {
        history.replaceState(history.state, '', location.href.replace(/#.*/, ''))
        pendingCode.value = code
    }
}

/** A key that signing in refuses is its page's business. */
export function signedOut(path: string): void {
    if (!path.startsWith('/sessions')) {
        me.value = null
        needsSignIn.value = true
    }
}

/** Whether one's key may make a call, by the table that the server gave with it: may('POST', '/jobs/{}/pause').
 *  As long as that is not known, everything is offered, and the server decides. */
export function may(method: string, path: string): boolean {
    const calls = me.value?.calls
    return !calls || calls.some(call => call.method === method && call.path === '/api/v1' + path)
}
