// Texts that change with the clock: drawn again when it says something else, not each second.
import { computed } from '@preact/signals'
import { Inputs, useMemo } from 'preact/hooks'

/** `say` reads signals, `now` say; what else it goes by stands in `inputs`. */
export function useSaid(say: () => string, inputs: Inputs): string {
    return useMemo(() => computed(say), inputs).value
}
