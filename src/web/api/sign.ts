// Signing in and out.
import type { Me } from 'openapi'
import { api, forgetAnswers } from './client'
import { forgetResources } from './resource'
import { me, needsSignIn } from './session'

export async function loadMe(): Promise<void> {
    me.value = await api.get<Me>('/me')
    needsSignIn.value = false
}

/** By a key, or by the code that `belfry dashboard` prints. Throws the problem. */
export async function signIn(by: { key: string } | { code: string }): Promise<void> {
    await api.post('/sessions', by)
    forgetAnswers()
    forgetResources()
    await loadMe()
}

/** Of this browser, or of all that are signed in by the same key. */
export async function signOut(everywhere = false): Promise<void> {
    await api.delete('/sessions', { query: { everywhere } })
    forgetAnswers()
    forgetResources()
    me.value = null
    needsSignIn.value = true
}
