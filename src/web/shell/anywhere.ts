// Commands that the search offers on every page, besides pages and things.
import { theme } from '../base/choices'
import { go } from '../base/router'
import { may, me } from '../api/session'
import { openKeys } from './keys'
import { out, outEverywhere } from './who'

export interface Deed { name: string, kind: 'page' | 'action', run: () => void }

const page = (name: string, path: string): Deed => ({ name, kind: 'page', run: () => go(path) })
const action = (name: string, run: () => void): Deed => ({ name, kind: 'action', run })

export function anywhere(): Deed[] {
    return [
        ...(may('POST', '/jobs') ? [page('New job', '/jobs/new')] : []),
        ...(may('PUT', '/calendars/{}') ? [page('New calendar', '/calendars?add=1')] : []),
        page('Silences of alerts', '/alerts/silences'),
        action('Keys of the keyboard, help', openKeys),
        action('Colours: light', () => { theme.value = 'light' }),
        action('Colours: dark', () => { theme.value = 'dark' }),
        action('Colours: as the system', () => { theme.value = 'auto' }),
        ...(me.value?.by === 'session' ? [action('Sign out', () => out(false)),
            action('Sign out everywhere …', () => void outEverywhere())] : []),
    ]
}
