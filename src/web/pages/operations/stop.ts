// Stopping an operation where it is.
import type { Operation } from 'openapi'
import { api } from '../../api/client'
import { reloadAll } from '../../api/resource'
import { may } from '../../api/session'
import { count } from '../../base/format'
import { confirm } from '../../parts/ask/confirm'
import { toast } from '../../parts/ask/toast'
import { refused } from '../common/act'
import { all, doneWord } from './words'

export const mayStop = (operation: Operation) =>
    operation.status === 'running' && may('POST', '/operations/{}/cancel')

export async function stop(operation: Operation): Promise<void> {
    const many = all(operation)
    const left = many === null ? 'the rest' : count(Math.max(0, many - operation.done - operation.refused), 'thing')
    const yes = await confirm({
        title: 'Stop this operation?', action: 'Stop it', danger: true, otherwise: 'Let it go on',
        text: `What is ${doneWord(operation)} stays so; `
            + `${left} will be left as ${many === null ? 'it is' : 'they are'}.`,
    })
    if (!yes)
        return
    try {
        await api.post<Operation>(`/operations/${operation.operation_id}/cancel`)
        toast('It was stopped. Servers that have not heard of it yet go on for a moment.')
    } catch (why) {
        refused(why)
    }
    reloadAll('/operations')
}
