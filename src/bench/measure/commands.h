/* commands.h - jobs that run a command, against running the same program without belfry.
 *
 * Both run FORKS_PROGRAM, which does nothing, as many at once. The jobs are submitted, leased,
 * forked by the worker's spawner in a session of their own with pipes for their output, reaped,
 * reported and kept; half of the bare loop of forks.h runs before them and half after, so that
 * company on the machine slows down both. */
#pragma once
#include "bench/harness/load.h"

struct commands_plan {
    uint64_t jobs;
    uint32_t batch;
    uint32_t at_once; /* slots of the fixture's worker */
};

struct commands {
    struct load load;
    int64_t ended_us; /* clock_mono_us: the server said that all are completed */
    int64_t bare_us;  /* what the bare loop took for as many */
};

enum rc commands_run(struct fixture *fixture, const struct commands_plan *plan,
                     struct commands *ret_commands, struct err *err);
