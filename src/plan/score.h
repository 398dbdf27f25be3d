/* score.h - what happened in a plan, counted: by job, by queue, and along time.
 *
 * Hears of each delta, follows what is unfinished, and forgets what has ended but for numbers. A
 * firing is a moment at which something was to run: a slot, or the time of a job that runs once. It
 * counts in the window of the plan by its own moment, and all that becomes of it counts with it. */
#pragma once
#include "plan/world.h"

enum {
    PLAN_WAIT_MS = 1000,     /* a start that comes later than this has waited; a turn takes less */
    PLAN_LATE_MS = 60000,    /* … is late, unless its job has `start_within` */
    PLAN_STEPS_MAX = 200000, /* 20 years by the hour are 175,680 */
};

enum skip_reason {
    SKIP_OVERLAP, /* the run before was not over */
    SKIP_CALENDAR,
    SKIP_MISSED, /* by the misfire policy, or because its grace was over */
    SKIP_OTHER,  /* what it depends on can never be; the schedule was changed */
    SKIP_REASONS
};

struct counts {
    uint64_t firings;
    uint64_t starts;
    uint64_t waits;      /* runs that waited for a slot, a limit or another job, started or not */
    int64_t wait_ms;     /* of all of them; what never started has waited until the end */
    int64_t wait_max_ms; /* … the longest */
    int64_t wait_max_at_ms;
    uint64_t late;     /* started too late, expired, or not at all by the end */
    uint64_t overlaps; /* met a run of their own job that was not over: skipped, … */
    uint64_t queued;   /* … or waited for it, … */
    uint64_t replaced; /* … or took its place, */
    uint64_t parallel; /* … or ran beside it */
    uint64_t skips[SKIP_REASONS];
    uint64_t held; /* by a calendar, and run later */
    uint64_t expired;
    uint64_t sla_expected; /* ended later than `expected` after they were due; … */
    uint64_t sla_max;      /* … than `max` */
    uint64_t cut;          /* took longer than their timeout, by what they usually take */
    uint64_t never;        /* ready, and not started by the end */
    int64_t busy_ms;
};

uint64_t counts_skipped(const struct counts *c); /* for whatever reason */

/* What is counted together: a job, all jobs that run once and have no name, or a queue. */
struct score_row {
    struct str name;
    struct str queue;
    uint64_t id;        /* of the job; 0: of many */
    bool paused;        /* nothing of it starts */
    bool is_new;        /* by the changed file */
    uint64_t under_way; /* runs whose time has come and that are not over */
    struct counts counts;
};

struct score_step {
    struct counts counts;
    uint32_t peak; /* most runs at once */
};

struct score_window {
    int64_t from_ms;
    int64_t until_ms;
    int64_t step_ms;
    struct str queue; /* only of this one; empty: of all */
    struct str job;   /* … of the job of this name or id */
};

struct score_job;
struct score_live;

struct score {
    struct arena arena; /* owned */
    const struct world *world;
    struct score_window window;
    struct map jobs; /* struct score_job, by id */
    VEC(struct score_row *) rows;
    struct strmap rows_by_name;
    VEC(struct score_row *) queues;
    struct strmap queues_by_name;
    struct score_row *nameless;
    struct score_step *steps; /* of the window, step_ms each */
    size_t step_count;
    uint32_t *hours; /* firings by the hour, for the heat map */
    size_t hour_count;
    int64_t hours_from_ms; /* a whole hour */
    struct counts all;
    uint32_t running;
    uint32_t peak;
    int64_t peak_at_ms;
    struct map live; /* struct score_live, by execution; owned */
    struct score_live *spare;
    int64_t now_ms;
    uint64_t firings; /* also outside of the window and of what is asked for */
};

/* The world must outlive it. RC_INVALID: the window has too many steps. */
enum rc score_open(struct score *s, const struct world *world, const struct score_window *window,
                   struct err *err);
void score_close(struct score *s); /* also usable as CLEANUP(score_close) */

/* A job that the world does not have, or has otherwise: as the changed file says. rules and name
 * must outlive the score. */
void score_define(struct score *s, uint64_t id, struct str name, const struct rules *rules,
                  bool is_new);
/* Counts what is unfinished when the plan begins. */
void score_begin(struct score *s);
/* What follows happens at this moment. */
void score_now(struct score *s, int64_t now_ms);
void score_delta(struct score *s, const struct delta *delta);
/* A run ends by its timeout, and usually takes longer. */
void score_cut(struct score *s, uint64_t exec_id);
/* The plan is over: what is ready has waited until then. */
void score_end(struct score *s);

/* For a plan without an engine: what becomes of a firing by its calendars. */
enum fate { FATE_RUNS, FATE_SKIPPED, FATE_HELD };
void score_firing(struct score *s, uint64_t job_id, int64_t at_ms, enum fate fate);
