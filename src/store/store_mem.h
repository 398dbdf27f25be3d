/* store_mem.h - memory as a store that several servers share, and what may go wrong with it: for
 * tests and the simulator. */
#pragma once
#include "store/store.h"

/* For several servers on one thread: handles on one memory with that many partitions, each
 * with its own turn. Nodes are silent by the clock that is handed in. All is gone with the last
 * handle. Where a database would let a turn wait for another one that has not ended, this says
 * RC_BUSY. */
typedef int64_t store_clock(void *arg);
void store_mem_open_shared(uint32_t partitions, store_clock *clock, void *arg,
                           struct store **ret_handles, size_t count);
/* As a database does to a client that keeps others waiting: the turn under way on this handle is
 * ended, and its commit is refused. */
void store_mem_sever(struct store *store);

/* A commit that was sent, and whose answer did not come. Its words may lie in a socket for long:
 * would the store keep it when they arrive now? RC_OK: it would; RC_DEPOSED, and RC_CONFLICT when
 * it was called lost. */
struct mem_sent {
    uint64_t writer;
    uint64_t turn;
    uint64_t try;
    struct ownership own;
};
struct mem_sent store_mem_send(struct store *store, const struct ownership *own, uint64_t turn);
enum rc store_mem_arrives(struct store *store, const struct mem_sent *sent, struct err *err);

/* A second memory follows from now on (when nothing was kept yet), … */
void store_mem_stand_by(struct store *store);
/* … falls behind, … */
void store_mem_lag(struct store *store);
/* … and takes the place of the first, with what it has. Turns under way are ended. */
void store_mem_fail_over(struct store *store);
/* Turns that were kept on this handle and are gone. */
uint64_t store_mem_lost(struct store *store);
