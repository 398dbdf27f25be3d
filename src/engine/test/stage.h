/* stage.h - a job that runs, and how it ends. */
#pragma once
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* A world with a job that runs, confirmed, on one worker. */
struct stage {
    struct world w;
    struct fake f;
    const struct submission *job;
    struct poll_lease lease;
};

struct stage *stage_new(struct wish wish);
void stage_free(struct stage **s);

#define STAGE(name, ...)                                                                           \
    CLEANUP(stage_free) struct stage *name = stage_new((struct wish){.unused = 0, __VA_ARGS__})

const struct exec_rec *ended(const struct stage *s);
const struct exec_rec *unfinished(const struct stage *s);
