/* due.h - how late jobs start that were promised for a moment, many for the same one.
 *
 * All are submitted ahead of time, with the moment also in their payload, so that the worker can
 * tell how late each call is. Moments are wall-clock milliseconds; the lateness is counted on the
 * clock that does not jump, and includes the millisecond that the wall clock rounds away. */
#pragma once
#include "bench/harness/load.h"

struct due_plan {
    uint64_t jobs;
    uint32_t batch;
    int64_t span_ms; /* the moments are spread evenly over so long; 0: all have the same */
};

struct due {
    struct load load;
    struct hist late_us;
    int64_t first_us; /* clock_mono_us: the first moment */
    int64_t all_us;   /* when the last start was heard of */
};

/* RC_TIMEOUT when they could not all be submitted before the first moment. */
enum rc due_run(struct fixture *fixture, const struct due_plan *plan, struct due *ret_due,
                struct err *err);
