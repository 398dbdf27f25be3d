// Where one is, search, whether it is live, the zone of times, who one is.
import './topbar.css'
import { may } from '../api/session'
import { isPhone } from '../base/choices'
import { zoneLabel, myZone, ZoneChoice } from '../base/when'
import { zoneChoice } from '../base/zone'
import { Menu } from '../parts/ask/menu'
import { LiveSign } from './livesign'
import { openJump } from './jump'
import { Who } from './who'

const zones: [ZoneChoice, string][] = [
    ['utc', 'UTC'],
    ['mine', `Mine (${zoneLabel(myZone())})`],
    ['job', "Each job's own"],
]

function Zone() {
    const [, name] = zones.find(([value]) => value === zoneChoice.value) ?? zones[0]
    return <Menu label={zoneChoice.value === 'mine' ? zoneLabel(myZone()) : zoneChoice.value === 'job' ? "Job's" : name}
        title="The zone that times are shown in" plain end items={zones.map(([value, name]) => ({
            name, chosen: zoneChoice.value === value, run: () => { zoneChoice.value = value },
        }))} />
}

export function TopBar() {
    return (
        <header class="top">
            <a class="top-name" href="/">belfry</a>
            <span class="top-context soft" title="The server that this page talks to">{location.host}</span>
            <button class="top-search" type="button" onClick={openJump}>
                <span>{isPhone.value ? 'Search' : 'Search or jump…'}</span>
                {!isPhone.value && <kbd>Ctrl K</kbd>}
            </button>
            <span class="top-rest">
                {may('GET', '/events') && <LiveSign />}
                <Zone />
                <Who />
            </span>
        </header>
    )
}
