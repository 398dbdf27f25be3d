/* undo.h - before-images of the things that a turn changes.
 *
 * Code that changes a thing touches it first. The first touch in a turn copies the thing's values;
 * undo puts them back, commit forgets the copy, and the delta is the difference between the two. */
#pragma once
#include "engine/core/exec.h"
#include "engine/core/operations.h"
#include "engine/depend/depends.h"
#include "engine/ready/breaker.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/workers.h"
#include "engine/time/calendars.h"

enum thing {
    THING_JOB,
    THING_EXEC,
    THING_WORKER,
    THING_QUEUE,
    THING_LIMIT,
    THING_BREAKER,
    THING_EDGE,
    THING_OPERATION,
    THING_CALENDAR,
    THING_PERMIT,
    THINGS
};

/* A thing that the turn has changed, and how it was before. Lives in the turn's arena. */
struct touched {
    enum thing thing;
    bool is_new;    /* was not in memory before this turn: undo frees it */
    bool stored;    /* the store knew it before this turn */
    bool durable;   /* differs now in what the store keeps */
    size_t attempt; /* place (1-based) of its newest record in engine.turn.attempts; 0: none */
    union {
        void *ptr;
        struct job *job;
        struct exec *exec;
        struct worker *worker;
        struct queue *queue;
        struct limit *limit;
        struct breaker *breaker;
        struct edge *edge;
        struct operation *operation;
        struct named_calendar *calendar;
        struct permit *permit;
    };
    union {
        struct job_values job;
        struct exec_values exec;
        struct worker_values worker;
        struct queue_values queue;
        struct limit_values limit;
        struct breaker_values breaker;
        struct edge_values edge;
        const void *apart; /* values that are many bytes, in the arena: */
        const struct operation_values *operation;
        struct calendar_values calendar;
        struct permit_values permit;
    } before;
    struct str steps;                    /* trail lines */
    const struct submission *submission; /* of a job that is new or edited: the texts to keep */
    struct job_change *change;           /* of a job: its place in the delta, from seal on */
    struct str result;                   /* of a finished execution; a calendar's document */
    struct str payload;                  /* of an execution that is new and has its own */
    struct str error;
    enum letter_reason why; /* of an execution that failed for good */
};

struct touched *touch_job(struct engine *e, struct job *job);
struct touched *touch_exec(struct engine *e, struct exec *x);
struct touched *touch_worker(struct engine *e, struct worker *w);
struct touched *touch_queue(struct engine *e, struct queue *q);
struct touched *touch_limit(struct engine *e, struct limit *limit);
struct touched *touch_breaker(struct engine *e, struct breaker *b);
struct touched *touch_edge(struct engine *e, struct edge *edge);
struct touched *touch_operation(struct engine *e, struct operation *op);
struct touched *touch_calendar(struct engine *e, struct named_calendar *calendar);
struct touched *touch_permit(struct engine *e, struct permit *p);
/* Marks a thing just touched as one that came into memory in this turn: made, or, when stored,
 * read. */
struct touched *touch_new(struct touched *t, bool stored);
