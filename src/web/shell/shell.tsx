// The frame around every page.
import './shell.css'
import { useEffect } from 'preact/hooks'
import { loadMe } from '../api/sign'
import { me, needsSignIn, pendingCode } from '../api/session'
import { startLive } from '../live/live'
import { ConfirmHost } from '../parts/ask/confirm'
import { ToastHost } from '../parts/ask/toast'
import { Jump } from './jump'
import { Keys } from './keys'
import { Page } from './page'
import { SideBar } from './sidebar'
import { TopBar } from './topbar'
import { useCounts } from './counts'
import { address } from '../base/router'
import { signIn } from './routes'

/** Draws nothing: what it counts changes nothing but what shows it. */
function Counting() {
    useCounts()
    return null
}

export function Shell() {
    const signing = needsSignIn.value || pendingCode.value !== null || address.value.path === signIn.pattern
    useEffect(() => {
        if (!signing && me.value === null)
            loadMe().catch(() => {}) // a page shows what is wrong; without a session signing in is shown
    }, [signing])
    useEffect(() => {
        if (!signing)
            startLive()
    }, [signing])
    if (signing)
        return <main id="main" class="shell-alone"><Page signing /></main>
    return (
        <div class="shell">
            <a class="shell-skip button" href="#main">To the page</a>
            <TopBar />
            <SideBar />
            <Counting />
            <main id="main" class="shell-main" tabIndex={-1}><Page /></main>
            <Jump />
            <Keys />
            <ConfirmHost />
            <ToastHost />
        </div>
    )
}
