/* gantt.h - what ran in a stretch of time and what will, in as much space as a picture has.
 *
 * Executions come one after the other, in any order and any number. Those that took longest, their
 * wait counted, are kept one by one; of all others a lane, which is a queue or a worker, knows only
 * how many began in each step of the stretch. Runs ahead are kept in the same way: the first of
 * every job, then the second, so that one that runs every second hides none that runs at night.
 * Pure: no store and no clock. */
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "job/record/ran.h"

enum {
    GANTT_STEPS = 120,     /* a lane has a count for each */
    GANTT_LANES_MAX = 1000 /* that are told apart; what is in further ones is only counted */
};

enum gantt_by { GANTT_BY_QUEUE, GANTT_BY_WORKER };

struct gantt_cell {
    uint32_t executions;
    uint32_t failed;
};

struct gantt_lane {
    struct str queue;   /* by queue, … */
    uint64_t worker_id; /* … or by worker; 0: unknown */
    uint64_t executions;
    uint64_t failed;
    struct gantt_cell rest[GANTT_STEPS]; /* that are no bars, by when they began */
};

struct gantt_bar {
    struct ran_rec ran; /* its queue is in the arena */
    struct gantt_lane *lane;
    int64_t length_ms; /* of what is seen of it */
};

/* Zeroed, but for the first six. */
struct gantt {
    int64_t from_ms;
    int64_t until_ms;
    int64_t now_ms;
    enum gantt_by by;
    size_t limit; /* bars */
    struct arena *arena;

    VEC(struct gantt_lane *) lanes;
    VEC(struct gantt_bar) bars; /* at most twice the limit */
    uint64_t executions;
    uint64_t left_out;      /* of lanes that there is no room for */
    struct strmap queues;   /* their names, once */
    struct strmap by_queue; /* lanes */
    struct map by_worker;
};

void gantt_free(struct gantt *t); /* not what is in the arena */

int64_t gantt_step_ms(int64_t from_ms, int64_t until_ms);
void gantt_add(struct gantt *t, const struct ran_rec *ran);
/* After the last one: bars stand by when they began, lanes by their names. Keeps the lanes_max with
 * most executions; says how many there were. */
size_t gantt_end(struct gantt *t, size_t lanes_max);

/* When it should have begun: its slot for the first attempt of one that was due then, else when it
 * became ready for this attempt. stagger_ms: the share of its job. */
int64_t gantt_due_ms(const struct ran_rec *ran, int64_t stagger_ms);

/* ---- runs ahead */

struct gantt_run {
    uint64_t job_id;
    struct str job_name;
    struct str queue;
    int64_t at_ms;
    bool held; /* by a calendar, at first */
    size_t turn;
};

/* Zeroed, but for the first four. */
struct gantt_ahead {
    int64_t from_ms;
    int64_t until_ms;
    size_t limit;
    struct arena *arena;

    VEC(struct gantt_run) runs; /* at most twice the limit */
    uint64_t count;
    size_t turn; /* of the job of the newest one */
    uint64_t job_id;
    uint64_t rest[GANTT_STEPS]; /* that are not kept, by when they are due */
    struct strmap texts;
};

void gantt_ahead_free(struct gantt_ahead *t); /* not what is in the arena */
/* Those of a job come in a row. Texts are copied. */
void gantt_ahead_add(struct gantt_ahead *t, const struct gantt_run *run);
/* After the last one: runs stand by when they are due. */
void gantt_ahead_end(struct gantt_ahead *t);
