/* ready.h - who is next.
 *
 * Work that is ready waits in lanes, one per queue and handler ("" is a command), so that a worker
 * never has to step over work it cannot do. Inside a lane the order is priority, then age. A lane
 * is fresh from when work is put into it until a matching round looked at it: a round needs to
 * offer only fresh lanes to parked workers, because no parked worker wanted what was there before.
 * Fair shares, limits and resource fit join here, behind these same calls. */
#pragma once
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "engine/trade.h"

struct lane {
    struct str queue;   /* owned, with handler, in one allocation behind the struct */
    struct str handler; /* empty: commands */
    size_t members;     /* how often it was joined; without any it is gone */
    struct heap heap;
    struct heap_node order; /* in ready.order while not empty */
    struct list_node fresh; /* on ready.fresh while something new is in it */
};

struct ready {
    struct strmap lanes; /* owned, by "queue\nhandler" */
    struct heap order;   /* lanes, by the best in each */
    struct list fresh;
    size_t len;
};

void ready_init(struct ready *r);
void ready_free(struct ready *r);

/* The lane, made when new; NULL when there are lanes_max already. Whoever joins leaves once. */
struct lane *ready_join(struct ready *r, struct str queue, struct str handler, size_t lanes_max);
void ready_leave(struct ready *r, struct lane *lane);

void ready_put(struct ready *r, struct lane *lane, struct heap_node *node, int32_t priority,
               int64_t ready_ms, uint64_t id);
void ready_remove(struct ready *r, struct lane *lane, struct heap_node *node);

/* The best of all that workers of this trade may be given, or NULL. It stays where it is. */
struct heap_node *ready_best(const struct ready *r, const struct trade *trade);
/* Takes the next fresh lane off the list of fresh ones, or NULL. */
struct lane *ready_next_fresh(struct ready *r);
