// The numbers that matter wherever one is: beside their nouns, in the title and in the icon of the tab.
import { computed, effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Alert } from 'openapi'
import { useResource } from '../api/resource'
import { may } from '../api/session'
import { compact } from '../base/format'
import { pageTitle } from '../base/title'
import { liveState, tick } from '../live/live'
import { OPEN_ALERTS } from '../pages/common/alerts'

const EVERY_MS = 10_000
const SHOWN_MAX = 100 // alerts that are counted; beyond, it is "99+"

const openAlerts = signal(0)

export const counts = {
    deadLetters: computed(() => tick.value?.dead_letters ?? 0),
    alerts: computed(() => openAlerts.value),
}

export const countText = (name: keyof typeof counts) => {
    const n = counts[name].value
    return name === 'alerts' && n >= SHOWN_MAX ? `${SHOWN_MAX - 1}+` : compact(n)
}

effect(() => {
    const wrong = [counts.deadLetters.value, counts.alerts.value]
    const isAway = liveState.value === 'away' && may('GET', '/events')
    const sign = isAway ? '✕ away · ' : wrong.some(n => n > 0) ? `(${wrong.map(compact).join('+')}) ` : ''
    if (pageTitle.value)
        document.title = `${sign}${pageTitle.value} · belfry`
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    const { calm, failing } = icon?.dataset ?? {}
    const wanted = isAway || counts.alerts.value > 0 ? failing : calm
    if (icon && wanted && icon.getAttribute('href') !== wanted)
        icon.href = wanted
})

/** Keeps the number of open alerts; once, by the shell. */
export function useCounts(): void {
    const { data } = useResource<{ alerts: Alert[] }>(may('GET', '/alerts') ? '/alerts' : null,
        { ...OPEN_ALERTS, limit: SHOWN_MAX }, { every: EVERY_MS })
    useEffect(() => {
        if (data)
            openAlerts.value = data.alerts.length
    }, [data])
}
