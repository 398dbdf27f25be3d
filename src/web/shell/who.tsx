// The user's menu: the key, until when it is good, and the ways out; and the colours, since they are one's own.
import { isPhone, theme, Theme } from '../base/choices'
import { exact, parse, pickZone, relative } from '../base/when'
import { zoneChoice } from '../base/zone'
import { me } from '../api/session'
import { signOut } from '../api/sign'
import { now } from '../live/live'
import { refused } from '../pages/common/act'
import { confirm } from '../parts/ask/confirm'
import { Menu } from '../parts/ask/menu'
import { openKeys } from './keys'

const themes: [Theme, string][] = [['auto', 'As the system'], ['light', 'Light'], ['dark', 'Dark']]

export function out(everywhere: boolean): void {
    signOut(everywhere).catch(refused)
}

export async function outEverywhere(): Promise<void> {
    const yes = await confirm({
        title: 'Sign out everywhere?', action: 'Sign out everywhere', danger: true, otherwise: 'Stay signed in',
        text: <p>Every browser that was signed in by the key {me.value?.key} is signed out within a second, this one,
            too. The key itself goes on working.</p>,
    })
    if (yes)
        out(true)
}

function sessionText(): string {
    const who = me.value
    const end = parse(who?.ends_at)
    if (!who)
        return 'Session'
    const zone = pickZone(zoneChoice.value)
    return `${who.key}, ${who.role}` + (end === null ? ', by key'
        : `; signed in until ${exact(end, zone, { day: false, seconds: false })}, ${relative(end, now.peek(), zone)}`)
}

export function Who() {
    const group = sessionText()
    const items = [
        ...themes.map(([value, name]) => ({
            name, group: 'Colours', chosen: theme.value === value, run: () => { theme.value = value },
        })),
        { name: 'Keys of the keyboard', group: 'Help', run: openKeys },
        ...(me.value?.by === 'key' ? [{ name: 'Calls carry a key', group, disabled: true, run: () => {} }] : [
            { name: 'Sign out', group, run: () => out(false) },
            { name: 'Sign out everywhere …', group, run: () => void outEverywhere() },
        ]),
    ]
    const name = isPhone.value ? me.value?.key : me.value?.actor
    return <Menu label={<span class="top-who">{name ?? '…'}</span>} title={group} plain items={items} end />
}
