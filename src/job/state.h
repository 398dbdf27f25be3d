/* state.h - every life an execution or a job can live, as one table each.
 *
 * The engine moves an execution by asking `exec_next`; a step that is not in the table does not
 * exist. Names are the ones users see in the API; numbers are what the stores keep, so neither
 * may change once released. */
#pragma once
#include "base/str.h"

enum exec_state {
    EXEC_NONE = 0,  /* no such step */
    EXEC_SCHEDULED, /* its time has not come */
    EXEC_QUEUED,    /* ready, waiting for a worker */
    EXEC_RUNNING,   /* leased to a worker */
    EXEC_STOPPING,  /* cancelled while running; still held until the worker says it is gone. Users
                     * see `running` with `stopping: true` */
    EXEC_RETRYING,  /* failed, waiting for the next attempt */
    EXEC_COMPLETED,
    EXEC_FAILED,
    EXEC_TIMEOUT,
    EXEC_CANCELLED,
    EXEC_SKIPPED,      /* its slot was not to be run: the record says why */
    EXEC_BLOCKED,      /* something else has to end first: another run, or a job it depends on */
    EXEC_EXPIRED,      /* it did not start in time, and must not any more */
    EXEC_DEDUPLICATED, /* to be delivered once more, when an attempt before had done the work */
    EXEC_STATES
};

enum exec_event {
    EV_CREATE,  /* only for the record: how it came to be */
    EV_DUE,     /* its time has come */
    EV_LEASE,   /* given to a worker */
    EV_SUCCEED, /* the worker reports success */
    EV_RETRY,   /* the attempt failed, attempts remain: back off first */
    EV_EXHAUST, /* the attempt failed and was the last one, or the failure is permanent */
    EV_EXPIRE,  /* the last attempt ran into its timeout */
    EV_LOST,    /* the lease of a confirmed run ended without a report; counted apart */
    EV_RETURN,  /* a lease came back that was never confirmed, or a drain gave it back: no cost */
    EV_CANCEL,  /* somebody asked to stop it */
    EV_STOPPED, /* the worker says that a stopping run is gone, or its lease ended */
    EV_SKIP,    /* a rule says that it is not to run */
    EV_BLOCK,   /* due, but it has to wait for something else; EV_DUE again when that is over */
    EV_PLAN,    /* what it waited for is over, but its time has not come; or that was changed */
    EV_QUARANTINE,  /* its lease was lost once too often: whoever ran it may have died of it */
    EV_LATE,        /* it should have started by now; only for the record, it goes on waiting */
    EV_OVERDUE,     /* it has not started, and now it is too late */
    EV_HOLD,        /* due, but a calendar says not now: its time is when that ends */
    EV_DEDUPLICATE, /* the work was done under a lease that had ended */
    EXEC_EVENTS
};

/* EXEC_NONE when there is no such step. */
enum exec_state exec_next(enum exec_state from, enum exec_event event);
bool exec_is_final(enum exec_state state);
/* Waiting for a moment (due_ms) rather than for a worker. */
bool exec_is_waiting(enum exec_state state);
/* Held by a worker: a lease is out. */
bool exec_is_leased(enum exec_state state);

/* The API's word: "queued". EXEC_STOPPING is "running" to users. */
struct str exec_state_name(enum exec_state state);
/* The inverse, for filters and rows; false when there is no such state. */
bool exec_state_parse(struct str name, enum exec_state *ret_state);
struct str exec_event_name(enum exec_event event);

enum job_state {
    JOB_NONE = 0,
    JOB_ACTIVE,
    JOB_COMPLETED,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_PAUSED, /* nothing of it starts until it is resumed */
    JOB_STATES
};

struct str job_state_name(enum job_state state);
bool job_state_parse(struct str name, enum job_state *ret_state);
bool job_is_over(enum job_state state);
/* What a job that runs once becomes when its execution ends in this (final) state. */
enum job_state job_state_after(enum exec_state final);
