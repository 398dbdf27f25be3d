/* phase.h - what a job is doing, in one word.
 *
 * The status of a job says how it was decided about: active, paused, or how it ended. The phase
 * says what users look for in a list: whether it runs, waits for a worker, waits for its time. It
 * follows from the status and from the execution that is under way, and is kept nowhere. Pure. */
#pragma once
#include "base/words.h"
#include "job/state.h"

enum phase {
    PHASE_NONE = 0,
    PHASE_PAUSED,    /* the job is paused, whatever still runs of it */
    PHASE_RUNNING,   /* also while it is being stopped */
    PHASE_RETRYING,  /* failed, waiting for the next attempt */
    PHASE_BLOCKED,   /* waits for another job, or another run, to end */
    PHASE_WAITING,   /* queued: waits for a worker */
    PHASE_SCHEDULED, /* waits for its time */
    PHASE_ACTIVE,    /* not over, and nothing of it is known: the rest are the status */
    PHASE_COMPLETED,
    PHASE_FAILED,
    PHASE_CANCELLED,
    PHASES
};

extern const struct words phase_words;
struct str phase_name(enum phase phase);

/* current: the state of the execution that is under way (`current_execution` of a job's answer), or
 * EXEC_NONE. is_ahead: a run of the job lies ahead. */
enum phase job_phase(enum job_state state, enum exec_state current, bool is_ahead);
/* The states that jobs in this phase may have, a bit each (1u << JOB_ACTIVE). */
uint32_t phase_states(enum phase phase);
