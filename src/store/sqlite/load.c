#include "store/sql/row_load.h"
#include "store/sqlite/sqlite.h"

/* One row is an execution and its job. An execution is of no use without that, and is left out with
 * it. */
static enum rc load_exec(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct exec_rec exec;
    struct job_rec job;
    bool good = row_exec(row, &exec);
    row_charged(row, &exec);
    if (!good || !row_job(row, &job)) {
        if (sink->damaged != NULL)
            sink->damaged(sink->arg, exec.id);
        return RC_OK;
    }
    if (sink->job != NULL)
        TRY(sink->job(sink->arg, &job, err));
    return sink->exec == NULL ? RC_OK : sink->exec(sink->arg, &exec, err);
}

/* Every row of a statement whose parameters are bound. */
static enum rc load_rows(struct stmt *stmt, row_load *load, const struct load_sink *sink,
                         struct err *err)
{
    for (;;) {
        bool found;
        TRY(stmt_next(stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(stmt, NULL);
        TRY(load(&row, sink, err));
    }
}

static enum rc load_all(struct db *db, enum sql sql, bool wanted, row_load *load,
                        const struct load_sink *sink, struct err *err)
{
    if (!wanted)
        return RC_OK;
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, sql);
    return load_rows(&stmt, load, sink, err);
}

static enum rc load_execs(struct db *db, int64_t until_ms, const struct load_sink *sink,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_LIVE);
    stmt_i64(&stmt, until_ms);
    return load_rows(&stmt, load_exec, sink, err);
}

/* ---- the whole */

enum rc sqlite_settings(struct store *store, const struct load_sink *sink, struct err *err)
{
    struct db *db = &sqlite_of(store)->db;
    TRY(load_all(db, SQL_LOAD_QUEUES, sink->queue != NULL, row_load_queue, sink, err));
    TRY(load_all(db, SQL_LOAD_TEAMS, sink->team != NULL, row_load_team, sink, err));
    TRY(load_all(db, SQL_LOAD_CORDONED, sink->cordon != NULL, row_load_cordon, sink, err));
    TRY(load_all(db, SQL_LOAD_CALENDARS, sink->calendar != NULL, row_load_calendar, sink, err));
    return load_all(db, SQL_LOAD_SILENCES, sink->silence != NULL, row_load_silence, sink, err);
}

enum rc sqlite_load(struct store *store, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    struct db *db = &sqlite_of(store)->db;
    (void)own; /* there is one partition */
    TRY(sqlite_settings(store, sink, err));
    TRY(load_all(db, SQL_LOAD_COUNTERS, sink->counter != NULL, row_load_counter, sink, err));
    TRY(load_all(db, SQL_LOAD_RATES, sink->rate != NULL, row_load_rate, sink, err));
    TRY(load_all(db, SQL_LOAD_CLOCK, sink->clock != NULL, row_load_clock, sink, err));
    TRY(load_all(db, SQL_LOAD_BREAKERS, sink->breaker != NULL, row_load_breaker, sink, err));
    TRY(load_all(db, SQL_LOAD_OPERATIONS, sink->operation != NULL, row_load_operation, sink, err));
    TRY(load_all(db, SQL_LOAD_WORKERS, sink->worker != NULL, row_load_worker, sink, err));
    TRY(load_all(db, SQL_LOAD_PERMITS, sink->permit != NULL, row_load_permit, sink, err));
    TRY(load_execs(db, until_ms, sink, err));
    TRY(load_all(db, SQL_LOAD_DEPENDENCIES, sink->dependency != NULL, row_load_dependency, sink,
                 err));
    return load_all(db, SQL_LOAD_WAITERS, sink->waiter != NULL, row_load_waiter, sink, err);
}
