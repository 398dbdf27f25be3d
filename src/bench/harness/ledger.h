/* ledger.h - what a database really holds.
 *
 * Clients and workers count what they were told. Whether that is true is asked of the file itself,
 * read-only and with SQL of its own: the code that wrote the rows is not asked to vouch for
 * them. */
#pragma once
#include "base/err.h"
#include "job/state.h"

struct ledger {
    uint64_t jobs;
    uint64_t live; /* unfinished executions */
    uint64_t history[EXEC_STATES];
    uint64_t attempts; /* without leases that were given back, and not run: they cost nothing */
    uint64_t commits;  /* turns that were kept, since the database was made */
    uint64_t bytes;    /* of the database, without its log */
};

/* data_dir is a server's. May be called while the server runs. */
enum rc ledger_read(const char *data_dir, struct ledger *ret_ledger, struct err *err);

/* What there must be: jobs with one execution each, completed in one attempt or still waiting, as
 * long as nothing is said about failures and further attempts. */
struct ledger_truth {
    uint64_t completed;
    uint64_t waiting;
    uint64_t failed;     /* for good */
    uint64_t more_tries; /* attempts, beyond one for each that completed */
    /* So many jobs that recur instead, run `completed` times in all. What waits and what was
     * skipped when nobody ran them any more is then as it may be. */
    uint64_t recurring;
};

/* RC_CORRUPT, and a sentence with the two numbers, unless the database holds exactly that. */
enum rc ledger_check(const struct ledger *ledger, const struct ledger_truth *truth,
                     struct err *err);
