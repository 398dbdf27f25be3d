// Light or dark, and whether this is a phone. (zone.ts has the zone of times.)
import { effect, signal } from '@preact/signals'
import { recall, remember } from './keep'

export type Theme = 'auto' | 'light' | 'dark'
export const theme = signal<Theme>(recall('theme', 'auto'))

const narrow = matchMedia('(max-width: 640px)')
export const isPhone = signal(narrow.matches)

const darkness = matchMedia('(prefers-color-scheme: dark)')
/** What the theme comes to: charts are drawn anew when it changes. */
export const isDark = signal(false)

export function startChoices(): void {
    narrow.addEventListener('change', () => isPhone.value = narrow.matches)
    const settle = () => isDark.value = theme.value === 'dark' || (theme.value === 'auto' && darkness.matches)
    darkness.addEventListener('change', settle)
    effect(() => {
        document.documentElement.dataset.theme = theme.value
        remember('theme', theme.value)
        settle()
    })
}
