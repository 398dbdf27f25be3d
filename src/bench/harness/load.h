/* load.h - clients that submit as fast as they are answered.
 *
 * Each client has a connection that is kept alive and one request under way: the next one is sent
 * when the answer to the last one has come. That is a closed loop, so a latency here is what each
 * of so many clients sees when the server is as busy as they can make it. */
#pragma once
#include "bench/harness/fixture.h"
#include "bench/harness/hist.h"

/* Prints the job with this number, counted from 0. */
typedef void load_print(void *arg, uint64_t number, struct buf *out);

struct load_plan {
    uint32_t clients;
    uint32_t batch;      /* jobs per request; 0: single submissions */
    load_print *print;   /* NULL: all the same, for the handler */
    void *arg;           /* of print */
    uint64_t jobs_max;   /* rounded up to whole requests */
    int64_t seconds_max; /* after which no new request is sent */
};

/* All jobs of the plan, in batches and without an end in time: how a measurement puts up its jobs
 * before it looks at what becomes of them. */
static inline struct load_plan load_of_jobs(uint32_t clients, uint32_t batch, uint64_t jobs,
                                            load_print *print)
{
    return (struct load_plan){
        .clients = clients,
        .batch = batch,
        .print = print,
        .jobs_max = jobs,
        .seconds_max = INT32_MAX,
    };
}

struct load {
    uint64_t requests;     /* answered */
    uint64_t jobs;         /* acknowledged */
    int64_t begun_us;      /* clock_mono_us: the first request was sent */
    int64_t ended_us;      /* and the last one answered */
    struct hist answer_us; /* from sending a request to its answer */
};

/* Runs the plan against the fixture's server until everything sent was answered. Anything but
 * success is an error: a benchmark of refusals would be a fast one. */
enum rc load_run(struct fixture *fixture, const struct load_plan *plan, struct load *ret_load,
                 struct err *err);
