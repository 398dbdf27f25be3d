/* event_index.h - which filters an event may fit, without a look at the others.
 *
 * Each filter is filed under every job, execution and queue that it names; those that name
 * nothing are one list. So an event finds the few that name it by three lookups, however many
 * there are. */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "server/output/event_filter.h"

struct event_mark;

struct event_index {
    struct map jobs; /* id -> struct event_mark, as the next two */
    struct map execs;
    struct strmap queues;
    struct list unnamed; /* filters that name nothing, but not those that are empty */
    uint64_t events;
};

/* A filter in the index, as a member of what wants it. */
struct indexed {
    struct list_node node; /* in index.unnamed */
    const struct event_filter *filter;
    uint64_t seen; /* index.events, when an event was last found to fit */
};

void event_index_init(struct event_index *index);
/* When no filter is in it any more. */
void event_index_free(struct event_index *index);
/* filter must live until it is removed. An empty filter is filed nowhere. */
void event_index_add(struct event_index *index, struct indexed *entry,
                     const struct event_filter *filter);
void event_index_remove(struct event_index *index, struct indexed *entry);
/* Calls visit once for each filter that fits. The index must not be changed meanwhile. */
void event_index_find(struct event_index *index, const struct event *event,
                      void (*visit)(void *arg, struct indexed *entry), void *arg);
