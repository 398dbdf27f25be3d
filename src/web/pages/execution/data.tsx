// The payload and the result of an execution.
import type { Execution } from 'openapi'
import { useResource } from '../../api/resource'
import { commandText } from '../../base/format'
import { part } from '../../base/query'
import { Code } from '../../parts/show/code'
import { OldData } from '../../parts/show/problem'
import { Tree } from '../../parts/show/tree'

interface JobPart { command?: unknown, handler?: string | null, payload?: unknown, version: number }

export function Data({ execution }: { execution: Execution }) {
    const job = useResource<JobPart>(`/jobs/${part(execution.job_id)}`, { fields: 'command,handler,payload,version' })
    const own = execution.payload !== null
    const payload = own ? execution.payload : job.data?.payload
    const work = job.data?.handler ? `handler ${job.data.handler}` : commandText(job.data?.command)
    return (
        <div class="stack">
            <OldData problem={job.problem} at={job.at} retry={job.reload} />
            <section class="panel">
                <h2>Result</h2>
                {execution.result === null
                    ? <p class="soft">None. A command that writes JSON to the file <code>$BELFRY_RESULT_FILE</code> has
                        it here.</p>
                    : <Tree value={execution.result} />}
            </section>
            <section class="panel">
                <h2>Payload {own && <span class="soft">it was run again with this one; its job has another</span>}</h2>
                {payload === null || payload === undefined ? <p class="soft">None.</p> : <Tree value={payload} />}
            </section>
            {job.data && <section class="panel">
                <h2>Work <span class="soft">of its job, version {job.data.version}</span></h2>
                <Code text={work} label="command" wrap />
            </section>}
        </div>
    )
}
