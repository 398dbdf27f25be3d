/* lease.h - the right to run one execution for a while.
 *
 * Every grant carries a larger token than the one before. A worker that slept through its lease
 * still holds the old token, so its report cannot overwrite the work of the worker that took over.
 * Plain values: no I/O, no allocation, no clock. */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct lease {
    uint64_t worker_id; /* its holder, or its last: a late report may still count; 0: none */
    uint64_t token;     /* of the newest grant; 0 before the first */
    int64_t ends_ms;    /* boot clock; renewed in memory only, a restart gives a full term */
    bool held;          /* else worker_id is in memory only */
    bool confirmed;     /* the worker has listed it: it started */
    bool unsure;    /* inherited from an owner that fell silent, and its worker may still listen to
                         * that one: so it may be alive for longer than a term */
    bool inherited; /* granted by the server before this one, which forgot whether it was
                         * confirmed, and by which poll it was asked for */
};

/* The next lease, for worker_id. Whether granting is wise is the caller's question. */
struct lease lease_grant(const struct lease *prev, uint64_t worker_id, int64_t now_ms,
                         int64_t ttl_ms);
/* RC_OK when worker and token name this lease, RC_STALE when not. The clock plays no part: work
 * reported late, but before anyone took it back, still counts. */
enum rc lease_check(const struct lease *held, uint64_t worker_id, uint64_t token, struct err *err);
/* The worker that holds it; 0: none. */
static inline uint64_t lease_holder(const struct lease *lease)
{
    return lease->held ? lease->worker_id : 0;
}
/* True when the lease was given up but to nobody else, and worker and token are those of the one
 * who had it: the work was done, and doing it again would be the worse answer. */
bool lease_was(const struct lease *free, uint64_t worker_id, uint64_t token);
/* Moves the end to now_ms + ttl_ms, never earlier than it was. */
void lease_renew(struct lease *held, int64_t now_ms, int64_t ttl_ms);
/* Gives the lease up; the token stays, so that the next one is larger. */
void lease_release(struct lease *held);

/* ---- what is on record about a lease */

/* One grant of an execution, looked up by its token. */
struct grant {
    bool live;          /* the execution has not ended */
    uint64_t newest;    /* live: the token of its newest grant */
    uint64_t holder_id; /* live: its holder now; 0: none */
    uint64_t past_id; /* the holder of the grant that was asked for, once that has ended; else 0 */
};

/* The right that a grant gives a worker, the least first. A worker that ever had the grant keeps
 * STANDING_PAST at least, for ever. */
enum standing {
    STANDING_NONE, /* it was never this worker's */
    STANDING_PAST, /* it was, until the execution ended or was given to somebody again */
    STANDING_LATE, /* it has ended, but nobody was given the execution since */
    STANDING_HELD, /* the worker holds it */
};

enum standing grant_standing(const struct grant *grant, uint64_t worker_id, uint64_t token);
