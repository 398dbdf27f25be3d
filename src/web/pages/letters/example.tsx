// The newest of what failed alike: its last words.
import type { DeadLetterWithExecution } from 'openapi'
import { useResource } from '../../api/resource'
import { Code } from '../../parts/show/code'

export function Example({ id }: { id: string }) {
    const { data } = useResource<DeadLetterWithExecution>(`/dead-letters/${id}`)
    const tail = data?.execution.attempts.at(-1)?.error_tail
    if (!data)
        return null
    return (
        <div style={{ gridColumn: '1 / -1' }}>
            <p class="letters-text">{data.name && <a href={`/jobs/${data.job_id}`}>{data.name}</a>} {data.error}</p>
            {tail && <Code text={tail} label="last lines" wrap />}
        </div>
    )
}
