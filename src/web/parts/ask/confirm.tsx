// A question before something is done, which says what it is and with how many things.
//
//     if (await confirm({ title: 'Cancel 214 jobs?', text: '…', action: 'Cancel 214 jobs', danger: true }))
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { address } from '../../base/router'
import { Dialog } from './dialog'

export interface Question {
    title: string
    text?: ComponentChildren
    /** What the button says: the deed, not "OK". */
    action: string
    danger?: boolean
    /** What the other button says. */
    otherwise?: string
}

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null)

export function confirm(question: Question): Promise<boolean> {
    asked.value?.answer(false)
    return new Promise(resolve => {
        asked.value = {
            ...question,
            answer: yes => {
                asked.value = null
                resolve(yes)
            },
        }
    })
}

/** A question is about the page that asked it: another page, or nobody's being signed in, takes it away. */
export function ConfirmHost() {
    const question = asked.value
    const { path } = address.value
    useEffect(() => () => asked.peek()?.answer(false), [path])
    if (!question)
        return null
    return (
        <Dialog key={question.title} title={question.title} onClose={() => question.answer(false)}>
            {question.text && <div>{question.text}</div>}
            <div class="dialog-buttons">
                <button class="button" type="button" autoFocus onClick={() => question.answer(false)}>
                    {question.otherwise ?? 'Leave it'}
                </button>
                <button class={`button ${question.danger ? 'danger' : 'main'}`} type="button"
                    onClick={() => question.answer(true)}>{question.action}</button>
            </div>
        </Dialog>
    )
}
