/* trade.h - what a worker can do, shared by all workers that can do the same.
 *
 * A fleet has thousands of workers and a handful of trades. Work that becomes ready is offered
 * trade by trade, and within one to whoever has waited longest; so it does not matter how many
 * workers idle that cannot do it. */
#pragma once
#include "base/list.h"
#include "base/map.h"

struct trade {
    struct str queues; /* newline-separated; empty: all. Owned, with handlers, behind the struct */
    struct str handlers; /* newline-separated */
    bool runs_commands;
    size_t lane_count;   /* pairs of its queues and handlers; SIZE_MAX when it serves all queues */
    size_t members;      /* how often it was joined; without any it is gone */
    struct list waiting; /* parked workers with free slots (worker.waiting), longest first */
    struct list_node idle; /* on trades.idle while somebody waits */
};

struct trades {
    struct strmap by_key; /* owned */
    struct list idle;     /* in no particular order */
};

void trades_init(struct trades *t);
void trades_free(struct trades *t);

/* The trade, made when new. Whoever joins leaves once. */
struct trade *trade_join(struct trades *t, struct str queues, struct str handlers,
                         bool runs_commands);
void trade_leave(struct trades *t, struct trade *trade);

/* True when its workers can run this handler (empty: commands), whatever the queue. */
bool trade_knows(const struct trade *trade, struct str handler);
/* True when its workers take work from this queue for this handler (empty: commands). */
bool trade_serves(const struct trade *trade, struct str queue, struct str handler);
