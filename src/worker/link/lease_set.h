/* lease_set.h - what a worker holds: leases that run, and results that no server has taken yet.
 *
 * The memory of a worker's pollers, without their sockets. A lease is here from the reply that
 * brought it until the verdict on its result; all that time each poll names it, first as running,
 * then with its result, because a server takes a lease that is not named for lost. A lease counts
 * from when the poll was sent, on the boot clock, and its process must be dead a margin before the
 * end.
 *
 * Where there are several servers, a poll may be about some partitions only (`of`; NULL, or a count
 * of 0, means all): those whose owner it goes to, or may go to.
 *
 * When the server no longer knows the worker, its leases are void: their processes are killed and
 * occupy their slots until they are gone, but nobody wants to hear of them any more. */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "job/poll.h"

struct lease_set {
    struct map by_exec;  /* every struct held; owned */
    struct list running; /* includes those that are void */
    struct list ended;   /* with a result, oldest first */
    size_t running_count;
    size_t ended_count;
    int64_t deadline_ms; /* boot clock: the earliest of all running; INT64_MAX without any */
    bool deadline_stale; /* its lease has ended; lease_set_expire finds the next one */
};

void lease_set_init(struct lease_set *h);
void lease_set_free(struct lease_set *h);

/* Takes a lease that the reply to a poll sent at sent_ms brought; next_seq is the number of the
 * first poll that will name it. False when it must not be started: it was sent twice, an older
 * attempt of the same execution is still being killed here, or the reply has waited for us until
 * the lease was over. Ignoring a lease is always safe: the next poll does not name it, so it is
 * sent again or taken back. */
bool lease_set_accept(struct lease_set *h, const struct poll_lease *lease, uint64_t next_seq,
                      int64_t sent_ms, int64_t now_ms);
/* The attempt is over; texts are copied. False when nobody wants to know: a void or unknown
 * lease. */
bool lease_set_end(struct lease_set *h, const struct poll_result *result);
/* True when token's attempt of the execution runs here. */
bool lease_set_runs(const struct lease_set *h, uint64_t exec_id, uint64_t token);

/* When what runs of this execution must be dead, unless it is renewed; INT64_MAX when nothing
 * does. */
int64_t lease_set_term_ms(const struct lease_set *h, uint64_t exec_id);

/* Fills in what poll->seq says about us: everything held, and up to result_max results of these
 * partitions, of at most result_bytes_max together (at least one). Texts are borrowed from here. */
void lease_set_fill(struct lease_set *h, struct poll *poll, const struct partition_set *of,
                    size_t result_max, size_t result_bytes_max, struct arena *arena);
/* True when results of these partitions wait that no poll under way carries. */
bool lease_set_wait(const struct lease_set *h, const struct partition_set *of);
/* True when something of these partitions runs or waits for a verdict. */
bool lease_set_any(const struct lease_set *h, const struct partition_set *of);
/* When the first of these that run must be dead, unless it is renewed; INT64_MAX without any. */
int64_t lease_set_deadline_ms(const struct lease_set *h, const struct partition_set *of);
void lease_set_verdict(struct lease_set *h, const struct poll_verdict *verdict);
/* Poll seq was answered, or failed: the results it carried that got no verdict wait again. */
void lease_set_landed(struct lease_set *h, uint64_t seq);
/* Of the results that poll seq carried, those with a code that older servers do not know are put as
 * an older worker would: they have failed. False when there is none. */
bool lease_set_reword(struct lease_set *h, uint64_t seq);
/* Takes from the results that poll seq carried all but the outcome, and notes in a success that its
 * result was left out. False when there is none of which that was not done before. */
bool lease_set_strip(struct lease_set *h, uint64_t seq);
/* Forgets the results that poll seq carried: the server will never take them. */
void lease_set_drop(struct lease_set *h, uint64_t seq);

/* Poll seq, sent at sent_ms, was accepted by a server that owns these partitions: all it named of
 * them are good for their term from then. */
void lease_set_renew(struct lease_set *h, uint64_t seq, int64_t sent_ms,
                     const struct partition_set *of);

/* A server that may not decide has said that these are good for their term from sent_ms; what is
 * not held, or not of these partitions, is passed over. */
void lease_set_keep(struct lease_set *h, const struct poll_held *kept, size_t count,
                    int64_t sent_ms, const struct partition_set *of);

typedef void lease_set_moved(void *arg, uint64_t exec_id, uint64_t token, int64_t deadline_ms);

/* Visits those whose deadline has moved since they were accepted or last visited here. */
void lease_set_tell(struct lease_set *h, lease_set_moved *visit, void *arg);

typedef void lease_set_visit(void *arg, uint64_t exec_id, uint64_t token);

/* Visits, once each, those whose deadline has passed, and brings deadline_ms up to date. */
void lease_set_expire(struct lease_set *h, int64_t now_ms, lease_set_visit *visit, void *arg);
/* The server has forgotten us: visits all that run and makes them void, drops all results. */
void lease_set_void(struct lease_set *h, lease_set_visit *visit, void *arg);
