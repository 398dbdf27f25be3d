/* worker_class.h - what a worker can do, shared by all workers that can do the same.
 *
 * A fleet has thousands of workers and a handful of worker_classes. Work that becomes ready is
 * offered worker_class by worker_class, and within one to whoever has waited longest; so it does
 * not matter how many workers idle that cannot do it. */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "engine/ready/copied.h"

struct worker_class {
    struct str queues; /* newline-separated; empty: all. Owned, with handlers, behind the struct */
    struct str handlers; /* newline-separated */
    bool runs_commands;
    size_t lane_count;   /* pairs of its queues and handlers; SIZE_MAX when it serves all queues */
    size_t members;      /* how often it was joined; without any it is gone */
    uint32_t busy;       /* leases of all its workers */
    int64_t slots;       /* of those that take work, as of worker_classes.counted_ms; … */
    int64_t own;         /* … of these, that this server fills; … */
    int64_t cordoned;    /* … and of those that are heard, but cordoned */
    struct list waiting; /* parked workers with free slots (worker.waiting), longest first */
    struct list_node idle; /* on worker_classes.idle while somebody waits */
    struct copied copied;
};

struct worker_classes {
    struct strmap by_key; /* owned */
    struct list idle;     /* in no particular order */
    int64_t counted_ms;   /* boot clock: when slots were counted last (estimate.c) */
};

void worker_classes_init(struct worker_classes *t);
void worker_classes_free(struct worker_classes *t);

/* The worker_class, made when new. Each join needs one leave. */
struct worker_class *worker_class_join(struct worker_classes *t, struct str queues,
                                       struct str handlers, bool runs_commands);
void worker_class_leave(struct worker_classes *t, struct worker_class *worker_class);

/* True when its workers can run this handler (empty: commands), whatever the queue. */
bool worker_class_knows(const struct worker_class *worker_class, struct str handler);
/* True when its workers take work from this queue for this handler (empty: commands). */
bool worker_class_serves(const struct worker_class *worker_class, struct str queue,
                         struct str handler);
