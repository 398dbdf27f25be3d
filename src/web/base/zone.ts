// Which zone times are shown in, on all pages.
import { effect, signal } from '@preact/signals'
import { recall, remember } from './keep'
import type { ZoneChoice } from './when'

export const zoneChoice = signal<ZoneChoice>(recall<ZoneChoice>('zone', 'utc'))
effect(() => remember('zone', zoneChoice.value))
