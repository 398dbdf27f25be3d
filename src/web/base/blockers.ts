// Reasons why an execution waits, in words (docs/protocol.md, "Why something does not run").

const words: Record<string, string> = {
    job_paused: 'for a paused job',
    queue_paused: 'for a paused queue',
    calendar: 'for a calendar to allow it',
    scheduled: 'for their time',
    ping: 'for a ping',
    retry: 'for their next attempt',
    overlap: 'for the run before to end',
    dependency: 'for other jobs',
    no_worker: 'for a worker that could run them',
    no_handler: 'for a worker with their handler',
    no_commands: 'for a worker that runs commands',
    queue_unserved: 'for a worker that serves their queue',
    queue_full: 'for the limit of their queue',
    team_limit: 'for the limit of their team',
    concurrency: 'for a concurrency limit',
    rate: 'for a rate limit',
    permit: 'for a permit',
    breaker: 'for an open breaker',
    probation: 'for a breaker that is being tried',
    workers_silent: 'for workers that are silent',
    workers_draining: 'for workers that are draining',
    workers_cordoned: 'for workers that are cordoned',
    workers_busy: 'for a free slot',
    behind: 'behind others in their queue',
    unheard: 'for a server that is not heard',
    stopping: 'for a run that is being stopped',
}

/** "for a rate limit": behind "190 wait ". */
export function waitsFor(kind: string): string {
    return words[kind] ?? `for ${kind.replace(/_/g, ' ')}`
}

/** Time brings these by itself; nobody has to do anything. */
export function isMerelyTime(kind: string): boolean {
    return kind === 'scheduled' || kind === 'ping' || kind === 'retry'
}
