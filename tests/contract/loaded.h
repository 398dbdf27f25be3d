/* loaded.h - what a store gives when it is loaded, all of it, to be looked at afterwards. */
#pragma once
#include "world.h"

struct loaded {
    struct arena arena;
    VEC(struct job_rec) jobs;
    VEC(struct exec_rec) execs;
    VEC(struct worker_rec) workers;
    VEC(struct worker_rec) cordoned;
    VEC(struct queue_rec) queues;
    VEC(struct team_rec) teams;
    VEC(struct rate_rec) rates;
    VEC(struct breaker_rec) breakers;
    VEC(struct dependency_rec) dependencies;
    VEC(struct calendar_rec) calendars;
    VEC(struct silence_rec) silences;
    VEC(struct operation_rec) operations;
    VEC(struct counter) counters;
    size_t stop_after; /* executions; then the sink fails */
};

void loaded_free(struct loaded *l);
/* Takes everything, in copies. */
struct load_sink loaded_sink(struct loaded *l);
/* Everything up to the horizon. */
enum rc load(struct world *w, int64_t until_ms, struct loaded *l);
/* NULL: it is not among them. */
const struct exec_rec *loaded_exec(const struct loaded *l, uint64_t id);
