#include "job/phase.h"

#include <assert.h>

const struct words phase_words =
    WORDS([PHASE_PAUSED] = "paused", [PHASE_RUNNING] = "running", [PHASE_RETRYING] = "retrying",
          [PHASE_BLOCKED] = "blocked", [PHASE_WAITING] = "waiting", [PHASE_SCHEDULED] = "scheduled",
          [PHASE_ACTIVE] = "active", [PHASE_COMPLETED] = "completed", [PHASE_FAILED] = "failed",
          [PHASE_CANCELLED] = "cancelled");

struct str phase_name(enum phase phase)
{
    return words_name(&phase_words, phase);
}

static enum phase phase_of_run(enum exec_state state)
{
    switch (state) {
    case EXEC_RUNNING:
    case EXEC_STOPPING: return PHASE_RUNNING;
    case EXEC_RETRYING: return PHASE_RETRYING;
    case EXEC_BLOCKED: return PHASE_BLOCKED;
    case EXEC_QUEUED: return PHASE_WAITING;
    case EXEC_SCHEDULED: return PHASE_SCHEDULED;
    default: return PHASE_NONE;
    }
}

static enum phase phase_of_status(enum job_state state)
{
    static const enum phase phases[JOB_STATES] = {
        [JOB_ACTIVE] = PHASE_ACTIVE, [JOB_COMPLETED] = PHASE_COMPLETED,
        [JOB_FAILED] = PHASE_FAILED, [JOB_CANCELLED] = PHASE_CANCELLED,
        [JOB_PAUSED] = PHASE_PAUSED,
    };
    assert(state < JOB_STATES);
    return phases[state];
}

enum phase job_phase(enum job_state state, enum exec_state current, bool is_ahead)
{
    enum phase run = phase_of_run(current);
    if (state == JOB_PAUSED)
        return PHASE_PAUSED;
    if (run != PHASE_NONE)
        return run;
    return is_ahead ? PHASE_SCHEDULED : phase_of_status(state);
}

uint32_t phase_states(enum phase phase)
{
    uint32_t over = 1u << JOB_COMPLETED | 1u << JOB_FAILED | 1u << JOB_CANCELLED;
    switch (phase) {
    case PHASE_PAUSED: return 1u << JOB_PAUSED;
    case PHASE_RUNNING: return over | 1u << JOB_ACTIVE; /* a run may outlive the end of its job */
    case PHASE_COMPLETED: return 1u << JOB_COMPLETED;
    case PHASE_FAILED: return 1u << JOB_FAILED;
    case PHASE_CANCELLED: return 1u << JOB_CANCELLED;
    default: return 1u << JOB_ACTIVE;
    }
}
