#include "store/postgres/postgres.h"
#include "store/row.h"

/* One row of what is loaded, to the sink. */
typedef enum rc load_row(struct row *row, const struct load_sink *sink, struct err *err);

static enum rc load_counter(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct counter counter;
    return row_counter(row, &counter) ? sink->counter(sink->arg, &counter, err) : RC_OK;
}

static enum rc load_worker(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct worker_rec worker;
    return row_worker(row, &worker) ? sink->worker(sink->arg, &worker, err) : RC_OK;
}

static enum rc load_queue(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct queue_rec queue;
    return row_queue(row, &queue) ? sink->queue(sink->arg, &queue, err) : RC_OK;
}

static enum rc load_team(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct team_rec team;
    return row_team(row, &team) ? sink->team(sink->arg, &team, err) : RC_OK;
}

static enum rc load_rate(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct rate_rec rate;
    return row_rate(row, &rate) ? sink->rate(sink->arg, &rate, err) : RC_OK;
}

static enum rc load_breaker(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct breaker_rec breaker;
    return row_breaker(row, &breaker) ? sink->breaker(sink->arg, &breaker, err) : RC_OK;
}

static enum rc load_calendar(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct calendar_rec calendar;
    return row_calendar(row, &calendar) ? sink->calendar(sink->arg, &calendar, err) : RC_OK;
}

static enum rc load_operation(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct operation_rec operation;
    return row_operation(row, &operation) ? sink->operation(sink->arg, &operation, err) : RC_OK;
}

static enum rc load_dependency(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct dependency_rec dependency;
    return row_dependency(row, &dependency) ? sink->dependency(sink->arg, &dependency, err) : RC_OK;
}

static enum rc load_permit(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct permit_rec permit;
    return row_permit(row, &permit) ? sink->permit(sink->arg, &permit, err) : RC_OK;
}

static enum rc load_waiter(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct waiter_rec waiter;
    return row_waiter(row, &waiter) ? sink->waiter(sink->arg, &waiter, err) : RC_OK;
}

/* own: NULL for what belongs to everybody, else the statement wants to know what is ours. */
static enum rc load_all(struct pg *pg, enum query query, const struct ownership *own, bool wanted,
                        load_row *load, const struct load_sink *sink, struct err *err)
{
    PG_CLEAR(pg);
    if (!wanted)
        return RC_OK;
    struct pg_use *use = pg_use(pg, query);
    if (own != NULL)
        postgres_bind_set(use, own);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, NULL);
        TRY(load(&row, sink, err));
    }
    return RC_OK;
}

/* ---- the whole */

enum rc postgres_settings(struct store *store, const struct load_sink *sink, struct err *err)
{
    struct pg *pg = &postgres_of(store)->pg;
    TRY(load_all(pg, Q_LOAD_QUEUES, NULL, sink->queue != NULL, load_queue, sink, err));
    TRY(load_all(pg, Q_LOAD_TEAMS, NULL, sink->team != NULL, load_team, sink, err));
    return load_all(pg, Q_LOAD_CALENDARS, NULL, sink->calendar != NULL, load_calendar, sink, err);
}

/* Not from one snapshot, and it need not be: what is in our partitions is changed by us alone. */
enum rc postgres_load(struct store *store, const struct ownership *own, int64_t until_ms,
                      const struct load_sink *sink, struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    struct pg *pg = &s->pg;
    enum settled settled;
    if (s->in_doubt) /* or it may be kept behind our back, when its place was read already */
        TRY(postgres_settle(store, own, s->doubt_turn, &settled, err));
    TRY(postgres_settings(store, sink, err));
    TRY(load_all(pg, Q_LOAD_COUNTERS, own, sink->counter != NULL, load_counter, sink, err));
    TRY(load_all(pg, Q_LOAD_RATES, NULL, sink->rate != NULL, load_rate, sink, err));
    TRY(load_all(pg, Q_LOAD_BREAKERS, own, sink->breaker != NULL, load_breaker, sink, err));
    TRY(load_all(pg, Q_LOAD_OPERATIONS, own, sink->operation != NULL, load_operation, sink, err));
    TRY(load_all(pg, Q_LOAD_WORKERS, own, sink->worker != NULL, load_worker, sink, err));
    TRY(load_all(pg, Q_LOAD_PERMITS, own, sink->permit != NULL, load_permit, sink, err));
    TRY(postgres_load_live(pg, own, until_ms, sink, err));
    TRY(load_all(pg, Q_LOAD_DEPENDENCIES, own, sink->dependency != NULL, load_dependency, sink,
                 err));
    return load_all(pg, Q_LOAD_WAITERS, own, sink->waiter != NULL, load_waiter, sink, err);
}
