/* tally.h - how executions ended, counted by the hour.
 *
 * Reports over a month must not read a million executions. So every turn adds up what ended in it:
 * for all together, and for each queue, owner, team, and job that recurs. One row says how many
 * ended so within one hour; completed ones by the bucket of their duration (base/sketch.h), so that
 * rows can be added up in any way and still tell quantiles, failed ones by their class. Of jobs
 * that have an SLA, rows of scopes of their own tell how they stand to it: of each that recurs, and
 * of queues, owners and teams. Jobs without one write none of those. */
#pragma once
#include "base/sketch.h"
#include "job/failure.h"
#include "job/state.h"

/* Kept by number: append only. */
enum tally_scope {
    TALLY_ALL = 1, /* the key is empty */
    TALLY_QUEUE,
    TALLY_JOB, /* that recurs; the key is its id as the API spells it */
    TALLY_OWNER,
    TALLY_TEAM,
    /* From here on the bucket is enum tally_sla. */
    TALLY_SLA,       /* of a job that recurs; the key as that of TALLY_JOB */
    TALLY_SLA_QUEUE, /* of all jobs of a queue; as are these, end is EXEC_COMPLETED whatever became
                      * of the execution */
    TALLY_SLA_OWNER,
    TALLY_SLA_TEAM,
    TALLY_SCOPES
};

/* The keys that each of the last three scopes has rows for in an hour, for each server. What ends
 * under other keys in that hour is counted under an empty key, so that a hundred thousand owners
 * write no more rows than a thousand. */
enum { TALLY_SLA_KEYS_MAX = 1000 };

/* The events that a row of a TALLY_SLA scope counts. Kept by number: append only. */
enum tally_sla {
    TALLY_SLA_MET,      /* executions that had an SLA and kept it, and how long they took */
    TALLY_SLA_BROKEN,   /* those that did not: SLA_BROKEN */
    TALLY_SLA_OVERRUN,  /* attempts that took longer than they may, and by how much */
    TALLY_SLA_EXCEEDED, /* executions that took longer than expected, in whatever attempt; … */
    TALLY_SLA_EXPECTED, /* … and those that did not. Older rows have neither */
    TALLY_SLA_PERCENT,  /* as TALLY_SLA_OVERRUN, in hundredths of a percent of the limit: the sum */
    TALLY_SLA_KINDS
};

enum { TALLY_HOUR_MS = 3600000 };

struct tally {
    enum tally_scope scope;
    struct str key;
    int64_t hour;        /* since 1970 */
    enum exec_state end; /* see tally_counts: only those tell something */
    uint32_t bucket;     /* completed: of the duration; failed: enum failure_class; else 0 (but see
                          * above) */
    uint64_t count;
    uint64_t sum_ms; /* of the durations, from the start of the last attempt */
};

/* Events of one kind. */
struct tally_events {
    uint64_t count;
    uint64_t sum_ms; /* see enum tally_sla */
};

/* Rows added up. */
struct tally_sum {
    uint64_t completed;
    uint64_t deduplicated; /* done as well, but nobody knows how long it took */
    uint64_t failed;       /* and timed out */
    uint64_t sum_ms;       /* of those completed */
    uint64_t by_class[FAILURE_CLASSES];
    struct sketch durations; /* of those completed */
    struct tally_events
        sla[TALLY_SLA_KINDS]; /* rows of TALLY_SLA scopes; they count nowhere else */
};

/* The rows of this scope count events of SLAs. */
bool tally_is_sla(enum tally_scope scope);

/* True when such an end is counted: the work was done (EXEC_COMPLETED, EXEC_DEDUPLICATED) or failed
 * for good (EXEC_FAILED, EXEC_TIMEOUT). */
bool tally_counts(enum exec_state end);
void tally_add(struct tally_sum *sum, const struct tally *row);
