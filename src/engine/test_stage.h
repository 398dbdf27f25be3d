/* test_stage.h - a job that runs, and how it ends. */
#pragma once
#include "engine/test_engine.h"

/* A world with a job that runs, confirmed, on one worker. */
struct stage {
    struct world w;
    struct fake f;
    const struct submission *job;
    struct poll_lease lease;
};

static inline struct stage *stage_new(struct wish wish)
{
    struct stage *s = MEM_NEW(struct stage);
    world_init(&s->w, &engine_defaults);
    s->f = HIRE(&s->w);
    s->job = ask_submit_one(&s->w, wish);
    world_turn(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    return s;
}

static inline void stage_free(struct stage **s)
{
    world_free(&(*s)->w);
    free(*s);
}

#define STAGE(name, ...)                                                                           \
    CLEANUP(stage_free) struct stage *name = stage_new((struct wish){.unused = 0, __VA_ARGS__})

static inline const struct exec_rec *ended(const struct stage *s)
{
    return map_get(&s->w.table.history, s->job->exec_id);
}

static inline const struct exec_rec *unfinished(const struct stage *s)
{
    return map_get(&s->w.table.live, s->job->exec_id);
}
