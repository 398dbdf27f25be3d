/* operation_old.c - operations of versions that kept filters in columns, a column for each
 * parameter: rows that they left behind, and the mail of servers that still run them. */
#include "base/id.h"
#include "job/record/operation.h"

#include <assert.h>

enum { OLD_FIRST = OPERATION_DISCARD + 1 };
static_assert((int)OPERATION_KINDS - OPERATION_PAUSE_JOBS ==
                  OPERATION_OLD_LAST + 1 - (int)OLD_FIRST,
              "a kind for each that there was");

static void take_name(struct filter *f, enum filter_of of, struct str name, struct arena *arena)
{
    struct err err;
    /* A name that none can be was refused when it was given; here it would restrict nothing. */
    if (name.len > 0 && filter_set(f, of, STR("name"), name, arena, &err) != RC_OK)
        f->name = name;
}

/* A state that is none has no name, and a filter without it would let more through. */
static bool has_known_states(const struct operation_rec *op)
{
    bool of_jobs = operation_filter_of(op->kind) == FILTER_OF_JOBS;
    uint32_t known =
        FILTER_STATE(of_jobs ? (unsigned)JOB_STATES : (unsigned)EXEC_STATES) - 2; /* from 1 */
    return (op->old.states & ~known) == 0;
}

static struct filter filter_of_old(const struct operation_rec *op, struct arena *arena)
{
    const struct operation_old *old = &op->old;
    bool of_execs = operation_filter_of(op->kind) == FILTER_OF_EXECS;
    struct filter f = {
        .states = old->states,
        .queue = old->queues,
        .tags = old->tags,
        .owner = old->owner,
        .team = old->team,
        .job_id = old->job_id,
        .class = op->filter.class,
        .fingerprint = op->filter.fingerprint,
        .created = {old->created_after_ms, old->created_before_ms},
    };
    if (of_execs && (f.states & FILTER_RUNNING) != 0)
        f.states |= FILTER_RUNNING;
    take_name(&f, operation_filter_of(op->kind), old->name, arena);
    return f;
}

void operation_renew(struct operation_rec *op, struct arena *arena)
{
    if ((int)op->kind < OLD_FIRST || op->kind > OPERATION_OLD_LAST)
        return;
    op->kind = (enum operation_kind)((int)op->kind - OLD_FIRST + OPERATION_PAUSE_JOBS);
    if (op->by_ids)
        return;
    struct filter f = filter_of_old(op, arena);
    op->which = has_known_states(op) ? operation_filter_text(op->kind, &f, arena) : STR("");
    op->filter = (struct letter_filter){0};
    op->old = (struct operation_old){0};
}
