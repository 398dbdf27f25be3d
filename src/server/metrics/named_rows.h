/* named_rows.h - rows of metrics that are told apart by a name: a queue, a handler, a team.
 *
 * There may be any number of names, and a scrape has to end, so the 100 first seen of each axis
 * have a row of their own, as long as there are lines left (`struct line_budget`, shared by all
 * axes), and all others share the row `other`. A row that was idle for an hour makes room when
 * another name needs it; what it counted is forgotten, and never moved. So no counter falls, but
 * for one that begins again.
 *
 * One thread counts and gives rows; any thread copies. The lock is held while rows come and go, and
 * by copies: counting takes none. */
#pragma once
#include "base/map.h"
#include "base/str.h"
#include "server/metrics/exemplars.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    NAMED_ROWS_MAX = 100,
    ROW_IDLE_MS = 3600000,
};

#define METRIC_NO_VALUE INT64_MIN /* of a gauge: there is none, and no line */

typedef atomic_int_least64_t metric_cell;

/* Adds to a cell that no other thread writes. */
static inline void cell_add(metric_cell *cell, int64_t by)
{
    atomic_store_explicit(cell, atomic_load_explicit(cell, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

static inline void cell_set(metric_cell *cell, int64_t value)
{
    atomic_store_explicit(cell, value, memory_order_relaxed);
}

static inline int64_t cell_get(const metric_cell *cell)
{
    return atomic_load_explicit(cell, memory_order_relaxed);
}

/* Adds to the buckets and the sum of a histogram. */
static inline void cell_observe(metric_cell *cells, enum metric_scale scale, int64_t value)
{
    if (value < 0)
        value = 0;
    cell_add(&cells[metric_bucket(scale, value)], 1);
    cell_add(&cells[METRIC_BUCKETS], value);
}

/* Lines that rows may still take; from any thread. */
struct line_budget {
    atomic_int_least64_t left;
};

bool budget_take(struct line_budget *budget, size_t lines);
void budget_give(struct line_budget *budget, size_t lines);

struct named_row {
    struct str name;           /* owned, behind the cells; empty: the row of all others */
    struct str labels;         /* the same, as a scrape has it: queue="mail" */
    int64_t used_ms;           /* boot clock: something was counted, or a gauge was not 0 */
    bool told;                 /* in the gauges that are being set */
    exemplars_place exemplars; /* owned; NULL: none */
    metric_cell cells[];
};

struct named_rows {
    enum metric_axis axis;
    struct line_budget *budget;
    pthread_mutex_t lock; /* of list, for others than the thread that counts */
    struct named_row *list[NAMED_ROWS_MAX];
    size_t len;
    struct named_row *other; /* owned; its lines are shown once it was used */
    bool other_used;
    struct strmap by_name;  /* the counting thread's, as all below */
    struct named_row *last; /* most events are about the queue of the one before */
    int64_t search_ms;      /* boot clock: no row is idle until then */
    uint8_t *missed;        /* owned: bits by the hash of names without a row; NULL: none yet */
    metric_cell *dropped;   /* how many these are */
};

void named_rows_init(struct named_rows *s, enum metric_axis axis, struct line_budget *budget,
                     metric_cell *dropped);
void named_rows_free(struct named_rows *s);

/* The row of the name, which may be the one of all others; used from now on. */
struct named_row *named_rows_get(struct named_rows *s, struct str name, int64_t now_ms);

/* A copy of a row, for a scrape. */
struct metric_row {
    struct str labels; /* in the arena */
    int64_t *cells;
    const struct exemplar *exemplars; /* as exemplars_copy has them; NULL: none */
};
struct arena;
/* All rows, in the order in which they were seen, and the others' last if it was used. */
size_t named_rows_copy(struct named_rows *s, struct arena *arena, struct metric_row **ret_rows);

/* name="value", with what a scrape cannot have escaped, and what is no UTF-8 replaced. */
void metric_label_print(struct buf *out, const char *name, struct str value);
