// How a job is called and in which zone it lives. Pure.
import type { Job } from 'openapi'
import { commandText } from '../../base/format'

/** The name of a job, or what it runs. */
export const titleOf = (job: Job): string =>
    job.name ?? (job.handler ? `handler ${job.handler}` : commandText(job.command))

export const zoneOf = (job: Job): string | null =>
    (job.schedule as { timezone?: string } | undefined)?.timezone ?? null

export const recurs = (job: Job): boolean => !!job.schedule && ('cron' in job.schedule || 'every' in job.schedule)

export const isOver = (job: Job): boolean => job.status !== 'active' && job.status !== 'paused'
