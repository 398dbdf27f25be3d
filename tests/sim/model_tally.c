/* model_tally.c - what ended is counted for the reports, in that very turn, and nothing else is. */
#include "model.h"
#include "world.h"

#include <inttypes.h>

static uint64_t counted(const struct delta *delta, enum tally_scope scope, enum exec_state end)
{
    uint64_t count = 0;
    for (size_t i = 0; i < delta->tally_count; i++) {
        if (delta->tallies[i].scope == scope && delta->tallies[i].end == end)
            count += delta->tallies[i].count;
    }
    return count;
}

/* ---- SLAs of queues, owners and teams */

static struct str key_in(enum tally_scope scope, const struct model_job *job)
{
    return scope == TALLY_SLA_QUEUE   ? job->rec.queue
           : scope == TALLY_SLA_OWNER ? job->rec.owner
                                      : job->rec.team;
}

static bool is_counted(enum tally_sla kind, const struct model_exec *x)
{
    switch (kind) {
    case TALLY_SLA_MET: return !x->sla.broken;
    case TALLY_SLA_BROKEN: return x->sla.broken;
    case TALLY_SLA_EXCEEDED: return x->sla.exceeded;
    case TALLY_SLA_EXPECTED: return !x->sla.exceeded && (x->rec.sla_marks & SLA_COUNTED) != 0;
    default: return false;
    }
}

/* An execution that began before the clock was set back may end in an hour of its own. */
static bool is_of(const struct tally *row, struct str key, int64_t at_ms)
{
    return row == NULL || (str_eq(key, row->key) && at_ms / TALLY_HOUR_MS == row->hour);
}

/* Events of this turn, as the model has them: those of the row, or, without one, all. */
static uint64_t slas_ended(struct world *w, const struct delta *delta, enum tally_scope scope,
                           const struct tally *row, enum tally_sla kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct model_exec *x = model_exec(&w->model, delta->execs[i].exec.id);
        struct str own = key_in(scope, x->job);
        if (tally_counts(x->rec.state) && x->sla.since_ms > 0 && is_counted(kind, x) &&
            own.len > 0 && is_of(row, own, x->rec.finished_ms))
            count++;
    }
    for (size_t i = 0; i < delta->sla_event_count; i++) {
        const struct sla_event_rec *event = &delta->sla_events[i];
        struct str own = key_in(scope, model_job(&w->model, event->job_id));
        if ((kind == TALLY_SLA_OVERRUN || kind == TALLY_SLA_PERCENT) &&
            event->kind == SLA_EVENT_END && own.len > 0 && is_of(row, own, event->at_ms))
            count++;
    }
    return count;
}

/* Every row says what the model counts under its key, and no key is missing. */
static void check_slas(struct world *w, const struct delta *delta, enum tally_scope scope)
{
    uint64_t told[TALLY_SLA_KINDS] = {0};
    for (size_t i = 0; i < delta->tally_count; i++) {
        const struct tally *row = &delta->tallies[i];
        if (row->scope != scope)
            continue;
        told[row->bucket] += row->count;
        uint64_t count = slas_ended(w, delta, scope, row, (enum tally_sla)row->bucket);
        PROMISE(w, row->key.len > 0 && row->count == count,
                "SLAs of '%.*s' are counted as %" PRIu64 " of kind %" PRIu32 ", where %" PRIu64
                " ended",
                STR_ARG(row->key), row->count, row->bucket, count);
    }
    for (enum tally_sla kind = 0; kind < TALLY_SLA_KINDS; kind++) {
        uint64_t count = slas_ended(w, delta, scope, NULL, kind);
        PROMISE(w, told[kind] == count,
                "%" PRIu64 " events of SLAs (kind %d) are counted, where %" PRIu64 " came",
                told[kind], (int)kind, count);
    }
}

void tally_check(struct world *w, const struct delta *delta)
{
    for (enum tally_scope scope = TALLY_SLA_QUEUE; scope <= TALLY_SLA_TEAM; scope++)
        check_slas(w, delta, scope);
    static const enum exec_state ends[] = {EXEC_COMPLETED, EXEC_FAILED, EXEC_TIMEOUT,
                                           EXEC_DEDUPLICATED};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        uint64_t ended = 0;
        for (size_t j = 0; j < delta->exec_count; j++)
            ended += delta->execs[j].exec.state == ends[i];
        PROMISE(w,
                counted(delta, TALLY_ALL, ends[i]) == ended &&
                    counted(delta, TALLY_QUEUE, ends[i]) == ended,
                "%" PRIu64 " ended as %.*s, and reports count otherwise", ended,
                STR_ARG(exec_state_name(ends[i])));
    }
}
