/* test_duo.h - two engines with a partition each, and the inbox between them.
 *
 * Each is a `struct world` of its own (test_engine.h) with its own table; what one sends stands in a
 * box that both read. A test moves time, restarts either, or looks into the box between two turns. */
#pragma once
#include "engine/test_engine.h"

struct duo {
    struct world a; /* owns partition 0 of two */
    struct world b; /* owns partition 1 */
    struct post_box box;
};

static inline void duo_init(struct duo *s, const struct engine_options *options)
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

static inline void duo_free(struct duo *s)
{
    world_free(&s->a);
    world_free(&s->b);
    arena_free(&s->box.arena);
}

#define DUO_WITH(name, options)                                                                    \
    CLEANUP(duo_free) struct duo name;                                                             \
    duo_init(&name, &(options))
#define DUO(name) DUO_WITH(name, engine_defaults)

/* A turn of one that was told that there is mail. */
static inline void mail_turn(struct world *w)
{
    engine_mail(w->engine);
    world_turn(w);
}

/* Turns of both until nobody has anything to say. */
static inline void duo_settle(struct duo *s)
{
    do {
        mail_turn(&s->a);
        mail_turn(&s->b);
    } while (s->box.rows.len > 0 || world_wait_ms(&s->a) == 0 || world_wait_ms(&s->b) == 0);
}

static inline void duo_pass(struct duo *s, int64_t ms)
{
    s->a.now_ms += ms;
    s->b.now_ms += ms;
    duo_settle(s);
}

/* How many rows of a kind are under way. */
static inline size_t duo_mail(const struct duo *s, enum inbox_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < s->box.rows.len; i++)
        count += s->box.rows.items[i].kind == kind;
    return count;
}
