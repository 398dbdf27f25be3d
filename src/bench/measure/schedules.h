/* schedules.h - how late jobs start that recur every minute, many of them.
 *
 * Each has a second of the minute of its own, so that as many are due in every second. They are
 * submitted first; from the next whole minute on the worker's notes are kept, and after some
 * minutes every slot of every job must have been run exactly once. The wall clock decides what is
 * due, so the lateness goes by it, in whole milliseconds rounded up. */
#pragma once
#include "bench/harness/load.h"

struct schedules_plan {
    uint64_t jobs;
    uint32_t batch;
    uint32_t minutes; /* to watch */
};

struct schedules {
    struct load load;
    struct hist late_us;
    int64_t ended_us; /* clock_mono_us: the last slot was told of */
    uint64_t runs;    /* all calls of the handler, also before and after the window */
};

/* Ends the worker. RC_CORRUPT when a slot was not run, or twice. */
enum rc schedules_run(struct fixture *fixture, const struct schedules_plan *plan,
                      struct schedules *ret_schedules, struct err *err);
