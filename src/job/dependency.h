/* dependency.h - a job that waits for the outcome of another.
 *
 * The job that waits is the *dependant*, the one it waits for its *upstream*. Whether a dependency
 * is met follows from how its upstream ended and from nothing else, so it is the same for one that
 * ended years ago. Of an upstream with a schedule it is the outcome of one slot that counts: of the
 * latest one at or before the dependant's own. Plain values. */
#pragma once
#include "base/words.h"
#include "job/state.h"

/* Kept by number: append only. */
enum dependency_type {
    DEPENDS_SUCCESS = 1, /* the upstream completed */
    DEPENDS_FAILURE,     /* it failed, after all its retries */
    DEPENDS_COMPLETION,  /* it is over, however it ended */
    DEPENDS_TYPES
};

/* The same. */
enum dependency_state {
    DEPENDENCY_WAITING = 1,
    DEPENDENCY_MET,
    DEPENDENCY_IMPOSSIBLE, /* the upstream ended otherwise: the dependant is skipped */
    DEPENDENCY_MOOT,       /* the dependant ended first */
    DEPENDENCY_PER_SLOT,   /* a job with a schedule is on either end: what is waited for is decided
                            * when the dependant is due, for each of its slots by itself */
    DEPENDENCY_STATES
};

/* A job that a submitted job wants to wait for. */
struct dependency_wish {
    enum dependency_type type;
    uint64_t job_id; /* a job that exists; 0: one of the same batch, */
    struct str name; /* by its name, or when that is empty */
    uint64_t number; /* by its number, counted from 0 */
    /* Between ask and decide, the engine's. */
    bool asked;  /* the store was asked about it */
    size_t item; /* of the batch: which one; SIZE_MAX: none that can be waited for */
    uint64_t upstream;
    enum dependency_state state;
};

/* Words of the API: "success", "waiting". */
extern const struct words dependency_type_words;
struct str dependency_type_name(enum dependency_type type);
struct str dependency_state_name(enum dependency_state state);

/* The state of a dependency once the upstream is over in this state. A job that was cancelled, or
 * skipped, neither succeeded nor failed. */
enum dependency_state dependency_after(enum dependency_type type, enum job_state ended);
