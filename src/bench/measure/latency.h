/* latency.h - how long a job waits on an idle server, from being sent to being run.
 *
 * One job at a time: it is sent, the worker says how long it took to get there, and after a pause
 * in which the worker reports its result and asks for more, the next one follows. */
#pragma once
#include "bench/harness/fixture.h"
#include "bench/harness/hist.h"

struct latency_plan {
    uint64_t jobs_max;
    int64_t seconds_max;
};

struct latency {
    uint64_t jobs;         /* acknowledged, and started */
    int64_t begun_us;      /* clock_mono_us: the first job was sent */
    int64_t ended_us;      /* and the last one started */
    struct hist start_us;  /* from sending the request to the handler's first line */
    struct hist answer_us; /* from sending the request to its 201 */
};

enum rc latency_run(struct fixture *fixture, const struct latency_plan *plan,
                    struct latency *ret_latency, struct err *err);
