/* queues.h - what holds ready work back: queues that are paused or full, and limits by key. A queue
 * also carries the numbers that stores keep of it. Whether a queue is still needed is
 * forget.h's. */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "base/usual.h"
#include "engine/ready/copied.h"
#include "job/breaker.h"
#include "job/command/command.h"

struct engine;
struct job;
struct lane;
struct limit;
struct touched;

struct queue_values {
    uint32_t concurrency; /* 0: no limit */
    bool paused;
    int64_t paused_ms;
    struct str paused_by; /* among engine.names */
    int64_t changed_ms;
    struct str changed_by; /* among engine.names */
    bool gone;             /* forgotten; freed when the turn is committed */
};

/* The numbers that stores keep of a queue (enum counter_kind). */
struct numbers {
    int64_t jobs[JOB_STATES];
    int64_t execs[EXEC_STATES];
    int64_t letters[EXEC_STATES]; /* dead letters, by how they died */
};

/* Names and numbers of one queue. It outlives its jobs for a while: see forget.c. */
struct queue {
    struct str name;
    struct queue_values v;
    uint32_t users;        /* definitions, homes, and dead letters that leave in this turn */
    bool known;            /* a commit knows it; else it is here for the users of this turn alone */
    uint32_t reading;      /* the newest of engine.readings that had it */
    struct list_node idle; /* on engine.queues.idle: not needed as of the last commit … */
    int64_t idle_ms;       /* … since; boot clock */
    uint32_t held;         /* leases */
    uint32_t lent;         /* of those held: no leases of ours, but permits (limit_remote.h) */
    uint32_t home;         /* the bucket that its limit lives in, … */
    struct str home_key;   /* … and the name of that */
    struct breaker_window finals; /* how executions ended lately; memory only, boot clock */
    struct usual usual;           /* as that of a lane; memory only */
    struct copied copied;
    struct list lanes; /* lane.sibling */
    struct touched *touched;
    struct numbers now; /* as of the last commit, of all owned partitions */
    /* Numbers that this turn adds, by partition: an execution is subtracted where it was added,
     * even if the partition changed hands in between. In the turn's arena, from seal on; NULL:
     * nothing, or nothing there. */
    struct numbers **changes;
    struct list_node changed; /* on engine.turn.changed_queues while this turn has changes */
};

struct queues {
    struct strmap by_name;
    struct list idle;       /* queue.idle, longest first */
    size_t gone_count;      /* of by_name: queues that this turn forgets */
    struct list buried;     /* queue.idle: the last commit forgot them; events may name them */
    struct queue forgotten; /* the numbers of all forgotten queues; it has no name */
};

struct queue *queue_new(struct engine *e, struct str name);
/* The same text, kept for as long as the engine lives. */
const struct str *name_keep(struct engine *e, struct str name);
/* Makes the lane one of this queue, open or closed as the queue is. */
void queue_join(struct engine *e, struct queue *q, struct lane *lane);
/* Gives the queue these values, and opens or closes its lanes. */
void queue_set(struct engine *e, struct queue *q, const struct queue_values *to);
/* Adds to (or takes from) the permits of its limit that are no leases of ours. */
void queue_lend(struct engine *e, struct queue *q, int by);
/* A lease of the job begins, or ends. */
void permits_take(struct engine *e, struct job *job);
void permits_return(struct engine *e, struct job *job);
/* One of the job's executions starts now: its rate counts it. */
void rate_start(struct engine *e, struct job *job);
/* The moment of a rate has come. */
void rate_wake(struct engine *e, struct limit *limit);
struct queue_rec queue_record(const struct queue *q);
/* How long the oldest ready execution has waited; 0: none is ready. */
int64_t queue_waited_ms(const struct engine *e, const struct queue *q);
/* The same of those that are first in their tracks: where priorities differ another may be older,
 * but it takes no longer however much is ready. */
int64_t queue_head_waited_ms(const struct queue *q, int64_t now_ms);
void decide_queue(struct engine *e, struct command *cmd);
void decide_queues(struct engine *e, struct command *cmd);
/* The queue has settings, or has had a job. */
bool queue_is_known(const struct queue *q);
/* Tells watchers about a queue. */
void queue_tell(struct engine *e, const struct queue *q, enum queue_event event, struct str actor);
