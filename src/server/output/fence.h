/* fence.h - who may say something in the name of a lease.
 *
 * Output and checkpoints come with an execution and a token, but beside the turn: no turn has asked
 * the engine about them. So the record is asked, which is as good: a lease is committed before its
 * worker hears of it. A worker that was overtaken, or never had the lease, is told so, and nothing
 * of what it sent is kept. Belongs to one thread, as its reader does. */
#pragma once
#include "job/lease.h"
#include "store/store.h"

struct fence;

/* In whose name somebody speaks. */
struct lease_name {
    uint64_t worker_id;
    uint64_t exec_id;
    uint64_t token;
};

/* The reader is borrowed and must live longer. */
struct fence *fence_new(struct reader *reader);
void fence_free(struct fence *f); /* NULL is fine */

/* RC_OK when the worker's standing is `least` or better. RC_CONFLICT: the lease was never its own.
 * RC_STALE: it was, but is not any more. Or the reader's own trouble. Asking for STANDING_PAST
 * again and again is cheap: a worker that ever had a lease has had it for ever, and is remembered
 * for that. */
enum rc fence_check(struct fence *f, const struct lease_name *name, enum standing least,
                    struct err *err);
