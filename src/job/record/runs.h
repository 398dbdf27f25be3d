/* runs.h - what the unfinished executions of a job say about it. Pure.
 *
 * A job that runs once has at most one of them. One with a schedule has one ahead, perhaps some
 * under way, and of `overlap: queue` some that wait behind those. */
#pragma once
#include "job/phase.h"
#include "job/record/record.h"
#include "job/spec.h"

/* Of a job with `overlap: queue` the newest ones only wait; the one that runs is behind them. */
enum { RUNS_UNFINISHED_MAX = SPEC_OVERLAP_QUEUE_MAX + 16 };

/* All of these take the unfinished executions of one job, the newest first. */

/* The newest one under way; one that waits for it only when there is none. NULL: there is none. */
const struct exec_rec *runs_current(const struct exec_rec *execs, size_t count);
/* The one whose time has not come; NULL: there is none. */
const struct exec_rec *runs_ahead(const struct exec_rec *execs, size_t count);
/* The one whose moment is the job's next run; NULL: none is known, as of a job that is paused, or
 * of one that waits for a ping. */
const struct exec_rec *runs_next(enum job_state state, bool recurs, const struct exec_rec *execs,
                                 size_t count);
enum phase runs_phase(enum job_state state, const struct exec_rec *execs, size_t count);
