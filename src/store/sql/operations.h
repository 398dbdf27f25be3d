/* operations.h - what operations act upon, as the stores that speak SQL find it. */
#pragma once
#include "base/vec.h"
#include "store/sql/row.h"

enum { LIVE_BYTES_MAX = 16 << 20 };

/* ---- turns: ASK_LIVE, smallest ids first */

struct live_found {
    VEC(struct exec_rec) execs;
    VEC(struct job_rec) jobs;
    size_t looked;
    size_t bytes_max; /* of the arena, with documents of those that do not fit */
};

/* Takes a row of an execution and its job when the operation does. False: this one is too many. */
bool live_add(struct live_found *found, struct question *q, struct row row, struct arena *arena);
void live_answer(const struct live_found *found, struct question *q);

/* ---- readers: the same rows, for whoever counts them */

/* False: enough was seen. */
bool live_tell(struct row row, live_sink *sink, void *arg, uint64_t *ret_id);
