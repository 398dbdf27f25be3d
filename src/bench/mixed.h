/* mixed.h - jobs of all kinds, first as it is, then while somebody holds a transaction open on PostgreSQL.
 *
 * Life measures jobs that are alike, which go together through everything. Here they differ: several queues,
 * priorities and sizes of payload, keys of three sorts, and one in ten fails the first time. What is not over
 * for a held transaction is kept by PostgreSQL, so every row that changes leaves a dead one behind, in the heap
 * and in each index: a statement that looks at them is slower with every turn.
 *
 * Before each part the tables are analyzed while nothing is under way, as autovacuum does sooner or later: the
 * planner then thinks that hardly anything lives there. */
#pragma once
#include "bench/load.h"

struct mixed_plan {
    uint64_t jobs;   /* of both parts together */
    int64_t seconds; /* likewise; whichever comes first */
    uint32_t batch;
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
    struct mixed_part free;
    struct mixed_part held;
};

/* RC_INVALID on SQLite, which has no such transactions. */
enum rc mixed_run(struct fixture *fixture, const struct mixed_plan *plan, struct mixed *ret_mixed,
                  struct err *err);
