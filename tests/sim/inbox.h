/* inbox.h - what people write into the inbox by SQL, and that nothing starves there.
 *
 * In a cluster somebody submits and cancels jobs by rows of the inbox: good ones and nonsense, small ones and
 * large ones, some under numbers that were taken long before they are seen. A newer version writes rows of
 * kinds that nobody here knows. Pages are small on such days, so that what waits fills them.
 *
 * It is promised that every row ends as what it asks for, or among the rejected; that a row about which
 * something can be done is dealt with in time, whatever waits before it; and that no server takes turn after
 * turn for what only waits. */
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"

struct world;
struct sim_server;

/* A row that somebody has written. */
struct sim_row {
    struct inbox_rec rec;
    size_t wish;         /* of a submission */
    bool nonsense;       /* no document at all */
    bool may_be_refused; /* for a good reason */
    bool there;          /* it was committed … */
    bool gone;           /* … and read */
};

/* Any row, since it was seen first, or could not be dealt with. */
struct seen_row {
    int64_t since_ms; /* boot clock */
};

struct sim_inbox {
    VEC(struct sim_row *) rows;
    struct map seen; /* id -> struct seen_row, in the day's arena */
    unsigned strange;
    int64_t healed_ms; /* boot clock; 0: not yet */
};

/* People begin to write, and somebody watches. */
void inbox_begin(struct world *w);
/* The store keeps this delta, now. */
void inbox_keep(struct world *w, const struct delta *delta);
/* Everything that somebody wrote was dealt with, or may wait. */
bool inbox_is_quiet(const struct world *w);
/* The store has gone back: what was read is there again, and what came since is gone. */
void inbox_go_back(struct world *w);
/* A turn of the server is over; it was asked for nothing, and kept nothing: an idle one. */
void inbox_turn(struct sim_server *s, bool idle);
