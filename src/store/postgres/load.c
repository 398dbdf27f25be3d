#include "store/postgres/postgres.h"
#include "store/sql/row_load.h"

/* own: NULL for what belongs to everybody, else the statement wants to know what is ours. */
static enum rc load_all(struct pg *pg, enum query query, const struct ownership *own, bool wanted,
                        row_load *load, const struct load_sink *sink, struct err *err)
{
    PG_CLEAR(pg);
    if (!wanted)
        return RC_OK;
    struct pg_call *use = pg_call(pg, query);
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
    TRY(load_all(pg, Q_LOAD_QUEUES, NULL, sink->queue != NULL, row_load_queue, sink, err));
    TRY(load_all(pg, Q_LOAD_TEAMS, NULL, sink->team != NULL, row_load_team, sink, err));
    TRY(load_all(pg, Q_LOAD_CORDONED, NULL, sink->cordon != NULL, row_load_cordon, sink, err));
    TRY(load_all(pg, Q_LOAD_CALENDARS, NULL, sink->calendar != NULL, row_load_calendar, sink, err));
    return load_all(pg, Q_LOAD_SILENCES, NULL, sink->silence != NULL, row_load_silence, sink, err);
}

/* Not from one snapshot, and it need not be: rows of our partitions are changed by us alone. */
enum rc postgres_load(struct store *store, const struct ownership *own, int64_t until_ms,
                      const struct load_sink *sink, struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    struct pg *pg = &s->pg;
    enum settled settled;
    if (s->in_doubt) /* or it may be kept behind our back, when its place was read already */
        TRY(postgres_settle(store, own, s->doubt_turn, &settled, err));
    TRY(postgres_settings(store, sink, err));
    TRY(load_all(pg, Q_LOAD_COUNTERS, own, sink->counter != NULL, row_load_counter, sink, err));
    TRY(load_all(pg, Q_LOAD_RATES, NULL, sink->rate != NULL, row_load_rate, sink, err));
    TRY(load_all(pg, Q_LOAD_CLOCK, NULL, sink->clock != NULL, row_load_clock, sink, err));
    TRY(load_all(pg, Q_LOAD_BREAKERS, own, sink->breaker != NULL, row_load_breaker, sink, err));
    TRY(load_all(pg, Q_LOAD_OPERATIONS, own, sink->operation != NULL, row_load_operation, sink,
                 err));
    TRY(load_all(pg, Q_LOAD_WORKERS, own, sink->worker != NULL, row_load_worker, sink, err));
    TRY(load_all(pg, Q_LOAD_PERMITS, own, sink->permit != NULL, row_load_permit, sink, err));
    TRY(postgres_load_live(pg, own, until_ms, sink, err));
    TRY(load_all(pg, Q_LOAD_DEPENDENCIES, own, sink->dependency != NULL, row_load_dependency, sink,
                 err));
    return load_all(pg, Q_LOAD_WAITERS, own, sink->waiter != NULL, row_load_waiter, sink, err);
}
