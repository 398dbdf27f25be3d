// Whether there is somebody, and who. The cookie itself is not for scripts to see.
import { signal } from '@preact/signals'
import type { Me } from 'openapi'

/** null: it is not known yet, or nobody. */
export const me = signal<Me | null>(null)
/** A call was refused for want of a session: the page to sign in is shown instead of any other. */
export const needsSignIn = signal(false)

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
