// The definition of a job, as it was understood.
import type { Job } from 'openapi'
import { documentOf } from '../definition/document'
import { Shown } from '../definition/shown'

export function Definition({ job }: { job: Job }) {
    return (
        <div class="stack">
            <p>Version {job.version}, with defaults filled in; the command line and curl leave out what is usual.</p>
            <Shown document={documentOf(job)} />
        </div>
    )
}
