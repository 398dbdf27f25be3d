/* commit_times.h - how long the commits of the last minute took.
 *
 * The thread of turns writes, any thread reads, and none waits: a commit adds one to a counter. The
 * minute is twelve steps of five seconds by the monotonic clock; the oldest one makes room for the
 * next. A reader that meets a step which is just being emptied leaves it out. In memory only. */
#pragma once
#include "base/sketch.h"

#include <stdatomic.h>

enum {
    COMMIT_STEP_US = 5000000,
    COMMIT_STEPS = 12,
};

struct commit_times {
    struct commit_step {
        atomic_int_least64_t number; /* of the step since the machine started; 0: in no use */
        atomic_uint counts[SKETCH_BUCKETS];
    } steps[COMMIT_STEPS];
};

/* A commit ended at now_us, after took_us; from one thread. */
void commit_times_add(struct commit_times *t, int64_t now_us, int64_t took_us);
/* Those of the minute before now_us, in microseconds. */
void commit_times_look(struct commit_times *t, int64_t now_us, struct sketch *ret_sketch);
