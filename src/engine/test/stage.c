#include "engine/test/stage.h"

struct stage *stage_new(struct wish wish)
{
    struct stage *s = MEM_NEW(struct stage);
    world_init(&s->w, &engine_defaults);
    s->f = HIRE(&s->w);
    s->job = ask_submit_one(&s->w, wish);
    world_turn(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    return s;
}

void stage_free(struct stage **s)
{
    world_free(&(*s)->w);
    free(*s);
}

const struct exec_rec *ended(const struct stage *s)
{
    return map_get(&s->w.table.history, s->job->exec_id);
}

const struct exec_rec *unfinished(const struct stage *s)
{
    return map_get(&s->w.table.live, s->job->exec_id);
}
