#include "engine/test/duo.h"

void duo_init(struct duo *s, const struct engine_options *options)
{
    struct engine_options both = *options;
    memset(&s->box, 0, sizeof s->box);
    both.mail_ms = 1000;
    world_init_part(&s->a, &both, (struct partition_set){.count = 2, .bits = 1});
    world_init_part(&s->b, &both, (struct partition_set){.count = 2, .bits = 2});
    s->a.table.box = s->b.table.box = &s->box;
    s->box.tables[0] = &s->a.table;
    s->box.tables[1] = &s->b.table;
}

void duo_free(struct duo *s)
{
    world_free(&s->a);
    world_free(&s->b);
    arena_free(&s->box.arena);
}

void mail_turn(struct world *w)
{
    engine_mail(w->engine);
    world_turn(w);
}

void duo_settle(struct duo *s)
{
    do {
        mail_turn(&s->a);
        mail_turn(&s->b);
    } while (s->box.rows.len > 0 || world_wait_ms(&s->a) == 0 || world_wait_ms(&s->b) == 0);
}

void duo_pass(struct duo *s, int64_t ms)
{
    s->a.now_ms += ms;
    s->b.now_ms += ms;
    duo_settle(s);
}

size_t duo_mail(const struct duo *s, enum inbox_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < s->box.rows.len; i++)
        count += s->box.rows.items[i].kind == kind;
    return count;
}
