/* deaths.h - executions that fail for good, and the letters of them. */
#pragma once
#include "world.h"

struct death {
    struct job_change job;
    struct exec_change exec;
    struct letter_rec letter;
};

/* Commits one of each: a job in that queue, its only execution, which fails at that moment, and its
 * letter. */
struct death kill_one(struct world *w, int64_t died_ms, const char *queue, uint64_t fingerprint);
