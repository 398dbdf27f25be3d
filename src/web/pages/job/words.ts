// How a job is called, and how it goes on. Pure.
import type { Job } from 'openapi'
import { commandText } from '../../base/format'

/** The name of a job, or what it runs. */
export const titleOf = (job: Job): string =>
    job.name ?? (job.expect ? job.schedule_text ?? 'pings'
        : job.handler ? `handler ${job.handler}` : commandText(job.command))

export const recurs = (job: Job): boolean => !!job.schedule && ('cron' in job.schedule || 'every' in job.schedule)

export const isOver = (job: Job): boolean => job.status !== 'active' && job.status !== 'paused'
