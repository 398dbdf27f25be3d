// The title of the tab. Titles name the page first, since tabs are narrow.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Of the page: "Jobs". What is wrong stands before it (shell/counts.ts). */
export const pageTitle = signal('')

/** Detail pages call this with the name of their thing. */
export function useTitle(title: string): void {
    useEffect(() => {
        pageTitle.value = title
    }, [title])
}
