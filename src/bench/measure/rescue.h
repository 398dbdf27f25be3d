/* rescue.h - from the last word of a worker to another one running what it had.
 *
 * Some workers are given jobs, confirm them, and are never heard of again; they die one after the
 * other. Then a worker comes that waits for work, and what it is called for, and when, tells how
 * long after the end of its lease each run was given to another. */
#pragma once
#include "bench/harness/fixture.h"
#include "bench/harness/hist.h"

struct rescue_plan {
    uint64_t jobs;  /* at most, rounded down to a multiple of the workers that die */
    uint32_t slots; /* of the worker that lives */
};

struct rescue {
    uint64_t requests;
    uint64_t jobs;
    int64_t begun_us;
    int64_t lease_ms;
    struct hist beyond_us; /* from the end of the lease to the call */
};

enum rc rescue_run(struct fixture *fixture, const struct rescue_plan *plan,
                   struct rescue *ret_rescue, struct err *err);
