/* storm.h - many jobs that fail and are tried again: what an attempt costs, and how retries arrive.
 *
 * First as many jobs that succeed, to compare with; then those that fail, with the retry policy
 * that every job has by default. */
#pragma once
#include "bench/harness/load.h"

struct storm_plan {
    uint64_t jobs; /* that fail; as many succeed before them */
    uint32_t batch;
};

struct storm {
    uint64_t requests;
    uint64_t succeeded;
    uint64_t failed;
    uint64_t retries;
    int64_t begun_us;
    int64_t success_us;  /* processor time of the server, for all that succeeded, */
    int64_t failures_us; /* and for all that failed, with all their attempts */
    uint64_t second_max; /* most retries that arrived within one second, */
    double second_mean;  /* and on average, from the first of them to the last */
};

/* Attempts of a job that fails, with the default policy. */
enum { STORM_ATTEMPTS = 4 };

enum rc storm_run(struct fixture *fixture, const struct storm_plan *plan, struct storm *ret_storm,
                  struct err *err);
