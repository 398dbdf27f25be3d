/* state.h - every life an execution or a job can live, as one table each.
 *
 * The engine moves an execution by asking `exec_next`; a step that is not in the table does not
 * exist. Names are the ones users see in the API; numbers are what the stores keep, so neither
 * may change once released. */
#pragma once
#include "base/buf.h"
#include "base/str.h"

/* The invariants of each state, between any two steps. `due_ms`, `token` and `finished_ms` are
 * those of the record (job/record/record.h); a place is where the engine finds the execution in
 * memory.
 *
 *   state       lease  due_ms  ends by           place
 *   ----------  -----  ------  ----------------  ------------------------------------------------
 *   scheduled   none   set     its time          among the dues; none while its job is paused
 *   retrying    none   set     its time          the same; it has had a lease
 *   blocked     none   0       another's end     none: an edge of its own, or its job, knows it
 *   queued      none   0       a grant           its track; none while its job is paused, or
 *                                                while it has asked for permits
 *   running     held   0       a report, or the  its worker's leases; among the terms
 *                              end of the lease
 *   stopping    held   0       the same          the same
 *   all others  none   0       never             none; it leaves memory with the commit
 *
 *   - A lease that is held has a token, the largest so far, and at least one attempt. A lease that
 *     was given up keeps its token.
 *   - Of an execution that waits for a worker, and may have one, no place depends on time: a track
 *     is ordered by `ready_ms`, which a step back of the clock does not lower.
 *   - finished_ms is set in the final states, and in no other; nothing leaves a final state.
 *   - An execution that waits for a ping (ORIGIN_PING) is scheduled for the moment at which that is
 *     missed. When it was, it is late and stays scheduled, but not among the dues any more.
 *   - A job with a schedule that is not over has exactly one execution that is scheduled for a slot
 *     ahead, and one that expects pings has one that waits for the next. Any other job has at most
 *     one unfinished execution. */
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
    EV_SUCCEED, /* the worker reports success, or a ping does */
    EV_RETRY,   /* the attempt failed, attempts remain: back off first */
    EV_EXHAUST, /* the attempt failed and was the last one, or the failure is permanent */
    EV_EXPIRE,  /* the last attempt ran into its timeout */
    EV_LOST,    /* the lease of a confirmed run ended without a report; counted apart */
    EV_RETURN,  /* a lease came back that was never confirmed, or a drain gave it back: no cost */
    EV_CANCEL,  /* a user asked to stop it */
    EV_STOPPED, /* the worker says that a stopping run is gone, or its lease ended */
    EV_SKIP,    /* a rule says that it is not to run */
    EV_BLOCK,   /* due, but it has to wait for something else; EV_DUE again when that is over */
    EV_PLAN,    /* its dependencies are over, but its time has not come; or it was rescheduled */
    EV_QUARANTINE,  /* its lease was lost once too often: workers may have died of it */
    EV_LATE,        /* it should have started by now; only for the record, it goes on waiting */
    EV_OVERDUE,     /* it has not started, and now it is too late */
    EV_HOLD,        /* due, but a calendar says not now: its time is when that ends */
    EV_DEDUPLICATE, /* the work was done under a lease that had ended */
    EV_MISS,        /* the ping that was to come has not; it goes on waiting for it */
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
/* The states that users see, with what may follow, as a table in Markdown. */
void exec_states_print(struct buf *out);
struct str exec_event_name(enum exec_event event);

/* A job is active or paused while something of it may still start. finished_ms is set once it is
 * over, and in no other state; a run that is stopping may outlive the end of its job. */
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
/* The state of a job that runs once after its execution ended in this (final) state. */
enum job_state job_state_after(enum exec_state final);
