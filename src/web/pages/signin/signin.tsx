// Signing in: by a key, or by the code of the link that `belfry dashboard` prints (api/session.ts takes it out of the
// address). The page that was asked for stays in the address, and is shown afterwards.
import './signin.css'
import { useEffect, useState } from 'preact/hooks'
import { address, go } from '../../base/router'
import { Problem, problemOf } from '../../api/problem'
import { me, needsSignIn, pendingCode } from '../../api/session'
import { loadMe, signIn } from '../../api/sign'
import { count } from '../../base/format'
import { Code } from '../../parts/show/code'
import { Field } from '../../parts/ask/field'
import { ProblemBox } from '../../parts/show/problem'

/** Seconds until the server takes another try; 0: now. */
function useWait(problem: Problem | null): number {
    const [left, setLeft] = useState(0)
    useEffect(() => {
        const until = Date.now() + (problem?.retryAfterMs ?? 0)
        const look = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)))
        look()
        const timer = setInterval(look, 250)
        return () => clearInterval(timer)
    }, [problem])
    return left
}

function leave(): void {
    pendingCode.value = null
    if (address.value.path === '/signin')
        go('/', { replace: true })
}

/** Somebody may have signed in by another tab, or before the code of a link was refused. */
async function lookWhoIsThere(): Promise<void> {
    const { value: wanted } = needsSignIn
    await loadMe().catch(() => {})
    if (me.value && wanted)
        leave()
}

function Advice({ byCode, isLimit }: { byCode: boolean, isLimit: boolean }) {
    if (isLimit || !byCode)
        return null
    return <div class="stack">
        <p>A link is good once, for two minutes, as long as the server that made it runs. This prints a new one:</p>
        <Code text="belfry dashboard" label="command" />
    </div>
}

export default function SignIn() {
    const [key, setKey] = useState('')
    const [busy, setBusy] = useState(false)
    const [failed, fail] = useState<{ problem: Problem, byCode: boolean } | null>(null)
    const wait = useWait(failed?.problem ?? null)
    const code = pendingCode.value

    const enter = async (by: { key: string } | { code: string }) => {
        setBusy(true)
        fail(null)
        setKey('')
        try {
            await signIn(by)
            leave()
        } catch (why) {
            fail({ problem: problemOf(why), byCode: 'code' in by })
            if ('code' in by)
                await loadMe().catch(() => {})
        }
        setBusy(false)
    }
    useEffect(() => {
        if (code)
            void enter({ code })
    }, [code])
    useEffect(() => {
        const look = () => void lookWhoIsThere()
        addEventListener('focus', look)
        return () => removeEventListener('focus', look)
    }, [])
    const isLimit = failed?.problem.status === 429
    return (
        <div class="signin">
            <h1 tabIndex={-1}>belfry <span class="soft">{location.host}</span></h1>
            {failed && <ProblemBox problem={failed.problem} />}
            {failed && <Advice byCode={failed.byCode} isLimit={isLimit} />}
            {failed && me.value && <button class="button" type="button" onClick={leave}>
                Go on as {me.value.actor}, who is signed in</button>}
            <form class="stack" autocomplete="off" onSubmit={event => {
                event.preventDefault()
                void enter({ key: key.trim() })
            }}>
                <Field name="Key" kind="password" mono required autofocus value={key}
                    onInput={setKey} hint="The server keeps a session; this page forgets the key." />
                <button class="button main" type="submit" disabled={busy || wait > 0 || key.trim() === ''}>
                    {busy ? 'Signing in …' : wait > 0 ? `Try again in ${count(wait, 'second')}` : 'Sign in'}
                </button>
            </form>
            {!failed?.byCode && <div class="stack soft">
                <p>On the machine of the server this prints a link that opens the dashboard without a key:</p>
                <Code text="belfry dashboard" label="command" />
                <p>The first start wrote a key of an administrator into <code>admin.key</code> of the data
                    directory.</p>
            </div>}
        </div>
    )
}
