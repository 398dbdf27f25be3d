/* steps.h - steps of the wall clock, and what they hold up or move. */
#pragma once
#include "base/when.h"
#include "engine/core/load.h"

/* The wall clock as the engine knows it. */
struct clock_values {
    int64_t stepped_ms; /* as in the moment that was acted upon, … */
    int64_t shaken_ms;  /* … and this, … */
    bool unsure;        /* … and this */
    int64_t at_ms;      /* deletions wait behind this; 0: behind nothing */
    bool mend;          /* a loaded thing waits since a moment in the future, or … */
    int64_t far_ms; /* … slots were planned by a clock so far ahead, or farther; 0: they were not */
    bool shifting; /* a step is under way: */
    bool first;    /* it is the first time that was accepted */
    int64_t by_ms;
    size_t done;          /* of engine.clock.shifts */
    bool reading;         /* slots beyond the horizon are to be looked at, … */
    struct horizon place; /* … from here on */
};

/* An execution that a step has to move, and when it was due before. */
struct shift {
    uint64_t exec_id;
    int64_t due_ms;
};

struct stepped_clock {
    struct clock_values v;
    struct shift *shifts; /* owned: of the step under way */
    size_t shift_count;
};

void steps_load(struct engine *e, struct moment now, uint64_t newest_id);
/* Begins a step that the moment tells of, or goes on with one. Runs before all that goes by the
 * wall clock. */
void steps_tick(struct engine *e);
void steps_ask(struct engine *e, struct question_list *list);
/* The moment by the clock as it is set now; 0, which is none, stays 0. */
int64_t step_moved_ms(int64_t at_ms, int64_t by_ms);
/* Nothing comes due by the wall clock. */
bool steps_hold_dues(const struct engine *e);
/* Nothing is too late by the wall clock: waiting executions may have yet to move with it. */
bool steps_hold_deadlines(const struct engine *e);
/* Nothing is old enough to be deleted. */
bool steps_hold_deletions(const struct engine *e);
bool steps_want_turn(const struct engine *e, struct moment now);
/* The time is that of a step which has yet to be carried out: executions that begin now must not
 * move with it. */
bool steps_pending(const struct engine *e);
