// A job's schedule in words and its next runs, with what changes of the clock do to them.
import type { Job, SchedulePreview, SlotOutcome } from 'openapi'
import { useResource } from '../../api/resource'
import { OldData } from '../../parts/show/problem'
import { Away, Time } from '../../parts/show/time'
import { zoneOf } from '../common/schedule'

interface Cron { cron: string, timezone?: string, seconds?: boolean }

const SHOWN = 5

function useNext(job: Job) {
    const schedule = job.schedule as Partial<Cron> & { every?: string } | undefined
    const dst = job.dst as { gap?: string, fold?: string } | undefined
    const preview = useResource<SchedulePreview>(schedule?.cron ? '/schedule/preview' : null, {
        cron: schedule?.cron, timezone: schedule?.timezone, seconds: schedule?.seconds, name: job.name,
        gap: dst?.gap, fold: dst?.fold, count: SHOWN,
    }, { every: 30_000 })
    // An interval counts from the slot before, so the slots themselves are asked.
    const slots = useResource<{ slots: SlotOutcome[] }>(schedule?.every ? `/jobs/${job.job_id}/slots` : null,
        { limit: 100 }, { every: 10_000 })
    const runs = schedule?.cron ? preview.data?.next_runs
        : slots.data?.slots.filter(slot => slot.outcome === 'planned').map(slot => slot.slot).slice(-SHOWN).reverse()
    return { held: schedule?.cron ? preview : slots, runs, notes: preview.data?.notes ?? [] }
}

export function Next({ job }: { job: Job }) {
    const { held, runs = [], notes } = useNext(job)
    const zone = zoneOf(job)
    return (
        <section class="panel">
            <h2>Next runs <span class="soft">{job.schedule_text}</span></h2>
            <OldData problem={held.problem} at={held.at} retry={() => void held.reload()} />
            {job.status === 'paused' && <p class="soft">None of these runs while it is paused.</p>}
            {job.status !== 'active' && job.status !== 'paused'
                ? <p class="soft">It is {job.status}: it does not run again.</p>
                : <ul class="job-list">
                    {runs.map(at => <li key={at} class="row spread">
                        <Time at={at} zone={zone} exactly />
                        <Away at={at} />
                        {notes.filter(note => note.at === at).map(note => <span key={note.text}>{note.text}</span>)}
                    </li>)}
                    {runs.length === 0 && job.next_run_at && <li><Time at={job.next_run_at} zone={zone} exactly /></li>}
                    {runs.length === 0 && !job.next_run_at && held.at !== null && <li class="soft">None.</li>}
                </ul>}
            {notes.filter(note => !runs.includes(note.at)).map(note =>
                <p key={note.text} class="small">{note.text}</p>)}
        </section>
    )
}
