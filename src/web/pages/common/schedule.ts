// Questions that pages ask of a job's schedule.

/** The zone that it is told in; null: it has none of its own. */
export const zoneOf = (job: { schedule?: unknown } | null): string | null =>
    (job?.schedule as { timezone?: string } | null | undefined)?.timezone ?? null
