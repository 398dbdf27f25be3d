// Of a page that one's key may not read.
import { me } from '../api/session'
import { Empty } from '../parts/show/empty'
import { offered } from './routes'
import { out } from './who'

export function Denied() {
    return (
        <div class="stack">
            <h1 tabIndex={-1}>This page is not for this key</h1>
            <Empty title={`The key ${me.value?.key} has the role ${me.value?.role}, which may not read it.`}>
                {offered().length > 0 ? 'The pages that it may read are named beside.'
                    : 'It may read no page at all: sign in by another one, an administrator\'s say.'}
            </Empty>
            <div><button class="button main" type="button" onClick={() => out(false)}>Sign out</button></div>
        </div>
    )
}
