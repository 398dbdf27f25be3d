// Signing in: by a key, or by the code in the address that `belfry dashboard` opens. The code works once, and is
// taken out of the address before it is sent. The page that was asked for is shown afterwards.
import './signin.css'
import { useEffect, useState } from 'preact/hooks'
import { address, go } from '../../base/router'
import { Problem, problemOf } from '../../api/problem'
import { signIn } from '../../api/sign'
import { Code } from '../../parts/show/code'
import { Field } from '../../parts/ask/field'
import { ProblemBox } from '../../parts/show/problem'

/** "#code=…", once. */
function takeCode(): string | null {
    const code = new URLSearchParams(address.value.hash.slice(1)).get('code')
    if (code !== null)
        go(address.value.path + location.search, { replace: true })
    return code
}

export default function SignIn() {
    const [key, setKey] = useState('')
    const [busy, setBusy] = useState(false)
    const [problem, setProblem] = useState<Problem | null>(null)

    const enter = async (by: { key: string } | { code: string }) => {
        setBusy(true)
        setProblem(null)
        try {
            await signIn(by)
            if (address.value.path === '/signin')
                go('/', { replace: true })
        } catch (why) {
            setProblem(problemOf(why))
        }
        setBusy(false)
    }
    useEffect(() => {
        const code = takeCode()
        if (code)
            void enter({ code })
    }, [])
    return (
        <div class="signin">
            <h1 tabIndex={-1}>belfry <span class="soft">{location.host}</span></h1>
            <form class="stack" onSubmit={event => {
                event.preventDefault()
                void enter({ key: key.trim() })
            }}>
                <Field name="Key" kind="password" mono required autofocus autocomplete="current-password" value={key}
                    onInput={setKey} hint="The server keeps a session; this page forgets the key." />
                {problem && <ProblemBox problem={problem} />}
                <button class="button main" type="submit" disabled={busy || key.trim() === ''}>
                    {busy ? 'Signing in …' : 'Sign in'}
                </button>
            </form>
            <div class="stack soft">
                <p>On the machine of the server this opens the dashboard without a key:</p>
                <Code text="belfry dashboard" label="command" />
                <p>The first start wrote a key of an administrator into <code>admin.key</code> of the data
                    directory.</p>
            </div>
        </div>
    )
}
