/* mixed.h - jobs of all kinds, in two equal parts; the second one, if asked, beside a transaction
 * held open.
 *
 * Life measures jobs that are alike, which go together through everything. Here they differ:
 * several queues, priorities and sizes of payload, keys of three sorts, and one in ten fails the
 * first time. PostgreSQL keeps every row that a held transaction might still want, so each change
 * leaves a dead row behind, in the heap and in each index: a statement that looks at them is slower
 * with every turn.
 *
 * The second part meets tables that the first one has filled, and is slower for that alone. The
 * cost of a held transaction is therefore the second part of `held` against the second part of
 * `mixed`, each on a database of its own.
 *
 * Before each part the tables are analyzed while nothing is under way, as autovacuum does sooner or
 * later: the planner then thinks that hardly anything lives there. */
#pragma once
#include "bench/harness/load.h"

struct mixed_plan {
    uint64_t jobs;   /* of both parts together */
    int64_t seconds; /* likewise; whichever comes first */
    uint32_t batch;
    bool hold; /* a transaction, during the second part */
};

/* One part of the measurement. */
struct mixed_part {
    uint64_t jobs;
    int64_t wall_us;  /* from sending the first batch of each round until its last job was called */
    int64_t store_us; /* processor time of PostgreSQL meanwhile; 0 where it is elsewhere */
    double first_per_s; /* in its first round, */
    double last_per_s;  /* and in its last */
};

struct mixed {
    uint64_t requests;
    uint64_t jobs; /* with those that warmed it up */
    uint64_t retries;
    int64_t begun_us;
    struct mixed_part first;
    struct mixed_part second;
};

/* RC_INVALID where a transaction should be held on SQLite, which has none of that sort. */
enum rc mixed_run(struct fixture *fixture, const struct mixed_plan *plan, struct mixed *ret_mixed,
                  struct err *err);
