// Why an execution failed, in a row of a list: its error, and the line of its output that its fingerprint was made of.
// The list has not got the latter, so it is asked for the rows that are seen, once each: what has ended stays as it is.
import { useEffect, useState } from 'preact/hooks'
import type { Execution } from 'openapi'
import { api } from '../../api/client'
import { few } from '../../base/few'

const AT_ONCE = 4
const KEPT_MAX = 2000
const asking = few(AT_ONCE)
const known = new Map<string, string>()

function textOf({ attempts }: Pick<Execution, 'attempts'>): string {
    const last = attempts[attempts.length - 1]
    return last?.fingerprint_text ?? (last?.error_class && last.error_class !== 'unknown'
        ? last.error_class.replace(/_/g, ' ') : '')
}

export function Cause({ executionId, error }: { executionId: string, error: string }) {
    const [text, setText] = useState(known.get(executionId))
    useEffect(() => {
        let left = false
        const ask = async () => {
            if (left)
                return
            try {
                const one = await api.get<Pick<Execution, 'attempts'>>(`/executions/${executionId}`,
                    { query: { fields: 'attempts' }, retries: 0 })
                known.set(executionId, textOf(one))
                if (known.size > KEPT_MAX)
                    known.delete(known.keys().next().value!)
            } catch {
                return // the error alone is told, then
            }
            if (!left)
                setText(known.get(executionId))
        }
        if (!known.has(executionId))
            asking.ask(ask)
        return () => {
            left = true
        }
    }, [executionId])
    const said = text ? `${error}: ${text}` : error
    return <span title={said}>{text ? <>{error}: <bdi class="soft">{text}</bdi></> : error}</span>
}
