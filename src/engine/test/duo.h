/* duo.h - two engines with a partition each, and the inbox between them.
 *
 * Each is a `struct world` of its own with its own table; what one sends stands in a box that both
 * read. A test moves time, restarts either, or looks into the box between two turns. */
#pragma once
#include "engine/test/world.h"

struct duo {
    struct world a; /* owns partition 0 of two */
    struct world b; /* owns partition 1 */
    struct post_box box;
};

void duo_init(struct duo *s, const struct engine_options *options);
void duo_free(struct duo *s);

#define DUO_WITH(name, options)                                                                    \
    CLEANUP(duo_free) struct duo name;                                                             \
    duo_init(&name, &(options))
#define DUO(name) DUO_WITH(name, engine_defaults)

/* A turn of one that was told that there is mail. */
void mail_turn(struct world *w);

/* Turns of both until nobody has anything to say. */
void duo_settle(struct duo *s);
void duo_pass(struct duo *s, int64_t ms);

/* How many rows of a kind are under way. */
size_t duo_mail(const struct duo *s, enum inbox_kind kind);
