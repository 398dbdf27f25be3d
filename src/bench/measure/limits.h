/* limits.h - what limits cost that hold nothing back.
 *
 * Rounds of jobs with a concurrency limit and a rate by key, in a queue with a limit of its own,
 * all far above what is reached, take turns with rounds of jobs without any, on one server: so
 * company on the machine slows down both. The others have a description as long as what the limits
 * take to say, since bytes that are read and kept are no cost of limits. The first of a pair is a
 * limited one every other time. */
#pragma once
#include "bench/harness/load.h"

struct limits_plan {
    uint64_t jobs; /* of both kinds together */
    uint32_t batch;
};

struct limits_cost {
    uint64_t jobs;
    int64_t wall_us; /* from sending a round's first batch until its last job was called */
    int64_t server_us;
};

struct limits_seen {
    uint64_t requests;
    int64_t begun_us;
    struct limits_cost without;
    struct limits_cost with;
};

enum rc limits_run(struct fixture *fixture, const struct limits_plan *plan,
                   struct limits_seen *ret_seen, struct err *err);
