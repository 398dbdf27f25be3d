// The numbers that matter wherever one is, beside their nouns.
import { computed } from '@preact/signals'
import { tick } from '../live/live'

export const counts = {
    deadLetters: computed(() => tick.value?.dead_letters ?? 0),
    alerts: computed(() => 0),
}
