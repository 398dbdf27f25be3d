#include "job/state.h"
#include "base/plant.h"

#include <assert.h>

/* clang-format off */
static const enum exec_state next[EXEC_STATES][EXEC_EVENTS] = { /* 0 is EXEC_NONE: no such step */
    [EXEC_SCHEDULED][EV_DUE]     = EXEC_QUEUED,
    [EXEC_SCHEDULED][EV_CANCEL]  = EXEC_CANCELLED,
    [EXEC_SCHEDULED][EV_SKIP]    = EXEC_SKIPPED,
    [EXEC_SCHEDULED][EV_BLOCK]   = EXEC_BLOCKED,
    [EXEC_SCHEDULED][EV_PLAN]    = EXEC_SCHEDULED, /* it was rescheduled, or the clock was set */
    [EXEC_SCHEDULED][EV_HOLD]    = EXEC_SCHEDULED,
    [EXEC_SCHEDULED][EV_LATE]    = EXEC_SCHEDULED, /* its job is paused, or it fires late */
    [EXEC_SCHEDULED][EV_OVERDUE] = EXEC_EXPIRED,
    [EXEC_SCHEDULED][EV_SUCCEED] = EXEC_COMPLETED, /* these three: it waits for a ping */
    [EXEC_SCHEDULED][EV_EXHAUST] = EXEC_FAILED,
    [EXEC_SCHEDULED][EV_MISS]    = EXEC_SCHEDULED,
    [EXEC_BLOCKED]  [EV_DUE]     = EXEC_QUEUED,
    [EXEC_BLOCKED]  [EV_PLAN]    = EXEC_SCHEDULED,
    [EXEC_BLOCKED]  [EV_CANCEL]  = EXEC_CANCELLED,
    [EXEC_BLOCKED]  [EV_SKIP]    = EXEC_SKIPPED,
    [EXEC_BLOCKED]  [EV_LATE]    = EXEC_BLOCKED,
    [EXEC_BLOCKED]  [EV_OVERDUE] = EXEC_EXPIRED,
    [EXEC_QUEUED]   [EV_LEASE]   = EXEC_RUNNING,
    [EXEC_QUEUED]   [EV_SUCCEED] = EXEC_COMPLETED, /* a late report, before it was leased again */
    [EXEC_QUEUED]   [EV_CANCEL]  = EXEC_CANCELLED,
    [EXEC_QUEUED]   [EV_LATE]    = EXEC_QUEUED,
    [EXEC_QUEUED]   [EV_OVERDUE] = EXEC_EXPIRED, /* never leased; one that was may run again */
    [EXEC_RUNNING]  [EV_SUCCEED] = EXEC_COMPLETED,
    [EXEC_RUNNING]  [EV_RETRY]   = EXEC_RETRYING,
    [EXEC_RUNNING]  [EV_EXHAUST] = EXEC_FAILED,
    [EXEC_RUNNING]  [EV_EXPIRE]  = EXEC_TIMEOUT,
    [EXEC_RUNNING]  [EV_LOST]    = EXEC_QUEUED,
    [EXEC_RUNNING]  [EV_RETURN]  = EXEC_QUEUED,
    [EXEC_RUNNING]  [EV_QUARANTINE] = EXEC_FAILED,
    [EXEC_RUNNING]  [EV_CANCEL]  = EXEC_STOPPING,
    [EXEC_STOPPING] [EV_STOPPED] = EXEC_CANCELLED,
    [EXEC_RETRYING] [EV_DUE]     = EXEC_QUEUED,
    [EXEC_RETRYING] [EV_CANCEL]  = EXEC_CANCELLED,
    [EXEC_QUEUED]   [EV_DEDUPLICATE] = EXEC_DEDUPLICATED,
    [EXEC_RUNNING]  [EV_DEDUPLICATE] = EXEC_DEDUPLICATED,
    [EXEC_RETRYING] [EV_DEDUPLICATE] = EXEC_DEDUPLICATED,
};
/* clang-format on */

static const struct str state_names[EXEC_STATES] = {
    [EXEC_NONE] = STR_INIT("none"),           [EXEC_SCHEDULED] = STR_INIT("scheduled"),
    [EXEC_QUEUED] = STR_INIT("queued"),       [EXEC_RUNNING] = STR_INIT("running"),
    [EXEC_STOPPING] = STR_INIT("running"),    [EXEC_RETRYING] = STR_INIT("retrying"),
    [EXEC_COMPLETED] = STR_INIT("completed"), [EXEC_FAILED] = STR_INIT("failed"),
    [EXEC_TIMEOUT] = STR_INIT("timeout"),     [EXEC_CANCELLED] = STR_INIT("cancelled"),
    [EXEC_SKIPPED] = STR_INIT("skipped"),     [EXEC_BLOCKED] = STR_INIT("blocked"),
    [EXEC_EXPIRED] = STR_INIT("expired"),     [EXEC_DEDUPLICATED] = STR_INIT("deduplicated"),
};

/* What users are told of them; running stands for stopping, too. */
static const char *const state_words[EXEC_STATES] = {
    [EXEC_SCHEDULED] = "its time has not come",
    [EXEC_QUEUED] = "ready, waiting for a worker",
    [EXEC_RUNNING] =
        "a worker has it; with `stopping: true` it was cancelled and has not ended yet",
    [EXEC_RETRYING] = "an attempt failed, and the next one is due later",
    [EXEC_COMPLETED] = "it succeeded",
    [EXEC_FAILED] = "it failed for good: no attempt is left, or the failure is permanent",
    [EXEC_TIMEOUT] = "the last attempt ran into its `timeout`",
    [EXEC_CANCELLED] = "it was stopped on request",
    [EXEC_SKIPPED] = "it was not to be run; `error` says why",
    [EXEC_BLOCKED] = "it waits for another run to end, or for a job that it depends on",
    [EXEC_EXPIRED] = "it did not start in time, and must not any more",
    [EXEC_DEDUPLICATED] =
        "it was to be delivered once more when an earlier attempt had done the work",
};

static const struct str event_names[EXEC_EVENTS] = {
    [EV_CREATE] = STR_INIT("create"),
    [EV_DUE] = STR_INIT("due"),
    [EV_LEASE] = STR_INIT("lease"),
    [EV_SUCCEED] = STR_INIT("succeed"),
    [EV_RETRY] = STR_INIT("retry"),
    [EV_EXHAUST] = STR_INIT("exhaust"),
    [EV_EXPIRE] = STR_INIT("expire"),
    [EV_LOST] = STR_INIT("lost"),
    [EV_RETURN] = STR_INIT("return"),
    [EV_CANCEL] = STR_INIT("cancel"),
    [EV_STOPPED] = STR_INIT("stopped"),
    [EV_SKIP] = STR_INIT("skip"),
    [EV_BLOCK] = STR_INIT("block"),
    [EV_PLAN] = STR_INIT("plan"),
    [EV_QUARANTINE] = STR_INIT("quarantine"),
    [EV_LATE] = STR_INIT("start_late"),
    [EV_OVERDUE] = STR_INIT("overdue"),
    [EV_HOLD] = STR_INIT("hold"),
    [EV_DEDUPLICATE] = STR_INIT("deduplicate"),
    [EV_MISS] = STR_INIT("missed"),
};

static const struct str job_names[JOB_STATES] = {
    [JOB_NONE] = STR_INIT("none"),           [JOB_ACTIVE] = STR_INIT("active"),
    [JOB_COMPLETED] = STR_INIT("completed"), [JOB_FAILED] = STR_INIT("failed"),
    [JOB_CANCELLED] = STR_INIT("cancelled"), [JOB_PAUSED] = STR_INIT("paused"),
};

enum exec_state exec_next(enum exec_state from, enum exec_event event)
{
    assert(from < EXEC_STATES && event < EXEC_EVENTS);
    if (PLANTED(cancelled_as_completed) && event == EV_STOPPED)
        return EXEC_COMPLETED;
    return next[from][event];
}

bool exec_is_final(enum exec_state state)
{
    return state >= EXEC_COMPLETED && state != EXEC_BLOCKED;
}

bool exec_is_waiting(enum exec_state state)
{
    return state == EXEC_SCHEDULED || state == EXEC_RETRYING;
}

bool exec_is_leased(enum exec_state state)
{
    return state == EXEC_RUNNING || state == EXEC_STOPPING;
}

struct str exec_state_name(enum exec_state state)
{
    assert(state < EXEC_STATES);
    return state_names[state];
}

bool exec_state_parse(struct str name, enum exec_state *ret_state)
{
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        if (str_eq(state_names[i], name)) {
            *ret_state = (enum exec_state)i;
            return true;
        }
    }
    return false;
}

/* Whether an execution that users see as from may be seen as to next. */
static bool leads_to(struct str from, enum exec_state to)
{
    for (int state = 0; state < EXEC_STATES; state++) {
        for (int event = 0; event < EXEC_EVENTS && str_eq(state_names[state], from); event++) {
            if (next[state][event] == to && !str_eq(state_names[to], from))
                return true;
        }
    }
    return false;
}

void exec_states_print(struct buf *out)
{
    buf_add(out, STR("| status | | may become |\n|---|---|---|\n"));
    for (int state = EXEC_NONE + 1; state < EXEC_STATES; state++) {
        if (state_words[state] == NULL)
            continue;
        buf_printf(out, "| `%.*s` | %s |", STR_ARG(state_names[state]), state_words[state]);
        const char *between = " ";
        for (int to = EXEC_NONE + 1; to < EXEC_STATES; to++) {
            if (!leads_to(state_names[state], (enum exec_state)to))
                continue;
            buf_printf(out, "%s%.*s", between, STR_ARG(state_names[to]));
            between = ", ";
        }
        buf_add(out, STR(" |\n"));
    }
}

struct str exec_event_name(enum exec_event event)
{
    assert(event < EXEC_EVENTS);
    return event_names[event];
}

struct str job_state_name(enum job_state state)
{
    assert(state < JOB_STATES);
    return job_names[state];
}

bool job_state_parse(struct str name, enum job_state *ret_state)
{
    for (int i = JOB_NONE + 1; i < JOB_STATES; i++) {
        if (str_eq(job_names[i], name)) {
            *ret_state = (enum job_state)i;
            return true;
        }
    }
    return false;
}

bool job_is_over(enum job_state state)
{
    return state == JOB_COMPLETED || state == JOB_FAILED || state == JOB_CANCELLED;
}

enum job_state job_state_after(enum exec_state final)
{
    assert(exec_is_final(final));
    switch (final) {
    case EXEC_COMPLETED:
    case EXEC_DEDUPLICATED: return JOB_COMPLETED; /* the work is done, by whichever attempt */
    case EXEC_CANCELLED:
    case EXEC_SKIPPED:
    case EXEC_EXPIRED: return JOB_CANCELLED; /* nothing failed: nothing ran */
    default: return JOB_FAILED;
    }
}
