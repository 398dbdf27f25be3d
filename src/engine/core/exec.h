/* exec.h - executions: their values, their places, and the one step between states. */
#pragma once
#include "base/heap.h"
#include "base/list.h"
#include "engine/core/job.h"
#include "job/command/command.h"
#include "job/lease.h"
#include "job/state.h"

struct engine;
struct touched;
struct track;
struct worker;

#define SERVER STR("server") /* the actor of what no person asked for */
/* Why an execution is deduplicated. */
#define DONE_BEFORE STR("an attempt whose lease had ended reported that the work is done")

/* Things that end by the boot clock. */
enum term_kind { TERM_LEASE, TERM_WORKER };

struct term {
    struct heap_node node;
    enum term_kind kind;
};

/* How far it is known how long a run usually takes (slow_runs.c). */
enum pace {
    PACE_UNKNOWN, /* not asked yet */
    PACE_ASKING,  /* the store is to be asked */
    PACE_KNOWN,
    PACE_FREE, /* too few have run to tell */
};

struct exec_values {
    enum exec_state state;
    uint32_t attempts;
    uint16_t lost;     /* saturating counter */
    uint16_t returned; /* saturating counter */
    uint16_t unseen;   /* as in its record, and proven, too */
    bool proven;
    uint8_t sla_marks; /* as in its record, and so are the other two of the SLA */
    bool effect_done;  /* as in its record */
    bool stop_told;    /* its worker was told to stop it, in a reply that may have been lost */
    bool late;         /* as in its record */
    bool unsure;       /* began while the time was not known; memory only */
    bool newer;      /* began by the time of a step that has yet to move the others; memory only */
    bool spared;     /* leased: the server stood still meanwhile; memory only */
    uint8_t pace;    /* enum pace; memory only, and usual_ms, too */
    uint8_t wants;   /* permits asked for, a bit per bar and one for its queue: limit_remote.h */
    uint8_t has;     /* permits granted, and with the home until they are given back */
    bool recharged;  /* leased: the target that is charged stands in engine.charges */
    uint32_t looked; /* held: which of engine.calendars.changes its due_ms takes into account */
    int64_t slot_ms; /* as in its record; an edit may move it before the first start */
    int64_t nominal_ms; /* the same */
    int64_t due_ms;
    int64_t
        ready_ms; /* its place in the track, never earlier than that of one before it. Scheduled:
                       * held by a calendar since, 0 when it is not */
    int64_t started_ms;
    int64_t finished_ms;
    uint64_t granted; /* number of its newest grant (engine.newest.grant): orders worker.leases */
    struct lease lease;
    int64_t sla_since_ms;
    int64_t sla_extra_ms;
    int64_t times_out_ms; /* boot clock: a lease is not renewed from then on; 0: never */
    int64_t named_ms;     /* boot clock: since when its worker names it; 0: it has not yet */
    int64_t usual_ms;     /* PACE_KNOWN: how long runs of its job usually take */
    uint64_t slot_count;  /* as in its record */
    int64_t slot_last_ms;
    uint64_t ask;         /* the number of its newest request for permits */
    int64_t shift_ms;     /* by how much the clock was set while it waited; memory only */
    int64_t give_back_ms; /* boot clock, while it is queued: its permits go back then */
};

struct exec {
    uint64_t id;
    struct job *job;
    struct list_node sibling; /* on job.execs */
    uint64_t retry_of;
    bool first;         /* made with its job */
    bool own_payload;   /* as in its record; the text is the store's */
    uint16_t waits_for; /* how many of its edges wait */
    enum origin origin : 8;
    bool traced; /* its caller gave a context, which stands in engine.traces */
    int64_t created_ms;
    struct heap_node due;       /* in engine.dues while it waits for its time or is leased, else in
                                 * engine.deadlines while it should start by one */
    struct term term;           /* the end of its lease */
    struct heap_node ready;     /* in its job's track; held by a calendar: in calendars.held; leased
                                 * and PACE_ASKING: in engine.pacing */
    struct list_node on_worker; /* on worker.leases, or on engine.orphans */
    uint64_t listed;            /* the newest poll (engine.newest.poll) that named it */
    uint64_t named_token; /* of a lease that a worker named and memory does not have; 0: none */
    struct exec_values v;
    struct touched *touched;
};

/* How an attempt ended. */
struct attempt_end {
    enum outcome outcome;
    struct usage usage;
    struct str error;
    enum failure_class class; /* FAILURE_NONE: it did not fail */
    struct str tail;
};

/* ---- executions: their places */

struct exec *exec_new(struct engine *e, uint64_t id, struct job *job);
/* Sorts by id executions that were found by walking a map. */
void execs_sort(struct exec **execs, size_t count);
void exec_free(struct engine *e, struct exec *x);
void exec_place(struct engine *e, struct exec *x);
void exec_unplace(struct engine *e, struct exec *x);
/* Puts a lease among those of its worker. */
void lease_place(struct worker *w, struct exec *x);
/* The track that the execution stands in while it is ready. */
struct track *exec_track(struct engine *e, const struct exec *x);
/* Gives the execution these values and the place that follows from them. */
void exec_set(struct engine *e, struct exec *x, const struct exec_values *to);

/* ---- executions and jobs: their lives */

/* One step through the state table. worker is for EV_LEASE, due_ms for EV_RETRY, EV_PLAN and
 * EV_HOLD. */
struct move {
    enum exec_event event;
    struct str actor;
    struct str reason;
    struct worker *worker;
    int64_t due_ms;
    uint64_t log_seq;
    enum letter_reason why; /* of a failure for good: why it is not tried again */
    bool reported;          /* its worker has told how it ended */
    bool blameless;         /* a failure that says nothing about the target it calls */
};
void exec_move(struct engine *e, struct exec *x, const struct move *move);
/* The time that the execution waited for has come: its rules say whether it becomes ready. */
void exec_come_due(struct engine *e, struct exec *x);
/* Since when an execution is ready that becomes ready now. */
int64_t ready_since_ms(struct engine *e);
/* The values after a step into the state `next`: the lease, times, counters and marks. They follow
 * from those before it, the move and the engine's time; nothing is placed or recorded
 * (exec_values.c). */
void exec_values_after(struct engine *e, const struct exec *x, const struct move *move,
                       enum exec_state next, struct exec_values *to);
/* The wall clock may be set back while a thing lives. Its record then says that no time passed,
 * rather than that it ended before it began. */
static inline int64_t later_ms(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}
/* Gives the lease a full term from now. */
void exec_renew(struct engine *e, struct exec *x);
/* Adds a line to the trail about something that is no step: event is the word for it. */
void exec_note(struct engine *e, struct exec *x, struct str event, struct str actor,
               struct str reason);
/* Places a new execution and records its first state. */
void exec_created(struct engine *e, struct exec *x, struct str actor, struct str reason);
/* Records how the current lease ended. Call before the move that ends it. */
void exec_end_attempt(struct engine *e, struct exec *x, const struct attempt_end *end);
/* How long an attempt may take before the server ends it: the timeout, and the time its worker has
 * to end it. 0: for ever. */
int64_t exec_limit_ms(const struct engine *e, const struct exec *x);
/* That time is over: the worker is told to stop the attempt, and its lease is not renewed. */
bool exec_timed_out(const struct engine *e, const struct exec *x);
/* The attempt begins now. */
void exec_start_clock(struct engine *e, struct exec *x);
/* Ends the execution as deduplicated: the work is done already. */
void exec_deduplicate(struct engine *e, struct exec *x);
/* Asks to end the execution, which takes a while when it runs. */
void exec_cancel(struct engine *e, struct exec *x, struct str actor, struct str reason);
/* Sets the state and adds a line to the trail; event is the word for what happened. */
void job_set(struct engine *e, struct job *job, enum job_state state, struct str event,
             struct str actor, struct str reason);
