/* rung.h - the bars of a limit, by how many at once they bear.
 *
 * Jobs that share a key may see it differently: one lets two run at once, another ten. Their bars
 * (ready.h) stand on rungs, one for each such number. A lease that begins or ends concerns one rung
 * of its limit, whose last permit goes or comes back, and of that only the bars whose track has
 * something waiting: so it costs the same however many others there are. Rungs are in the order of
 * their numbers. */
#pragma once
#include "base/list.h"

#include <stddef.h>
#include <stdint.h>

struct rung {
    uint32_t max; /* how many at once */
    size_t members;
    struct list waiting; /* bar.on_rung, of tracks that are not empty */
};

struct rungs {
    struct rung **items; /* owned, as they are */
    size_t len;
};

/* The rung, made when new. Each join needs one leave; with the last one it is gone. */
struct rung *rung_join(struct rungs *all, uint32_t max);
void rung_leave(struct rungs *all, struct rung *rung);
/* NULL: there is none. */
struct rung *rung_at(const struct rungs *all, uint32_t max);
void rungs_free(struct rungs *all);
