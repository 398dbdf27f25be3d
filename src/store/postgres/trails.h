/* trails.h - what rows of live say about their past, as far as we wrote it ourselves and lately.
 *
 * An execution that ends takes its trail along into history. Reading it there and back costs
 * PostgreSQL as much as keeping the row, so the store remembers the trails of what it has just
 * written: most executions end soon after they began. Only the owner writes to them, so what is
 * known stays true for as long as the epochs are the same; and what is not known is fetched by the
 * statement itself. */
#pragma once
#include "base/map.h"
#include "store/store.h"

struct trails {
    struct map map;                  /* of struct trail, owned */
    uint64_t epochs[PARTITIONS_MAX]; /* under which they were written */
};

/* Before a turn's delta is looked at: forgets all when something was owned by somebody else
 * since. */
void trails_begin(struct trails *t, const struct ownership *own);
/* The whole of one, borrowed until the next call; ptr is NULL when it is not known. */
struct str trails_get(const struct trails *t, uint64_t exec_id);
/* After the commit that kept the delta. */
void trails_keep(struct trails *t, const struct delta *delta);
void trails_forget(struct trails *t); /* all; a zeroed struct is empty */
