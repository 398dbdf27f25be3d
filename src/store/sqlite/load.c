#include "store/row.h"
#include "store/sqlite/sqlite.h"

static enum rc load_counters(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_COUNTERS);
    for (;;) {
        bool found;
        struct counter counter;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_counter(&row, &counter))
            TRY(sink->counter(sink->arg, &counter, err));
    }
}

static enum rc load_workers(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_WORKERS);
    for (;;) {
        bool found;
        struct worker_rec worker;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_worker(&row, &worker))
            TRY(sink->worker(sink->arg, &worker, err));
    }
}

static enum rc load_queues(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_QUEUES);
    for (;;) {
        bool found;
        struct queue_rec queue;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_queue(&row, &queue))
            TRY(sink->queue(sink->arg, &queue, err));
    }
}

static enum rc load_teams(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_TEAMS);
    for (;;) {
        bool found;
        struct team_rec team;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_team(&row, &team))
            TRY(sink->team(sink->arg, &team, err));
    }
}

static enum rc load_rates(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_RATES);
    for (;;) {
        bool found;
        struct rate_rec rate;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_rate(&row, &rate))
            TRY(sink->rate(sink->arg, &rate, err));
    }
}

static enum rc load_breakers(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_BREAKERS);
    for (;;) {
        bool found;
        struct breaker_rec breaker;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_breaker(&row, &breaker))
            TRY(sink->breaker(sink->arg, &breaker, err));
    }
}

static enum rc load_calendars(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_CALENDARS);
    for (;;) {
        bool found;
        struct calendar_rec calendar;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_calendar(&row, &calendar))
            TRY(sink->calendar(sink->arg, &calendar, err));
    }
}

/* One row is an execution and its job. An execution is of no use without that, and is left out with
 * it. */
static enum rc load_exec(const struct stmt *stmt, const struct load_sink *sink, struct err *err)
{
    struct exec_rec exec;
    struct job_rec job;
    struct row row = stmt_row(stmt, NULL);
    if (!row_exec(&row, &exec) || !row_job(&row, &job)) {
        if (sink->damaged != NULL)
            sink->damaged(sink->arg, exec.id);
        return RC_OK;
    }
    if (sink->job != NULL)
        TRY(sink->job(sink->arg, &job, err));
    return sink->exec == NULL ? RC_OK : sink->exec(sink->arg, &exec, err);
}

static enum rc load_execs(struct db *db, int64_t until_ms, const struct load_sink *sink,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_LIVE);
    stmt_i64(&stmt, until_ms);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        TRY(load_exec(&stmt, sink, err));
    }
}

static enum rc load_dependencies(struct db *db, const struct load_sink *sink, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_DEPENDENCIES);
    for (;;) {
        bool found;
        struct dependency_rec dependency;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_dependency(&row, &dependency))
            TRY(sink->dependency(sink->arg, &dependency, err));
    }
}

enum rc sqlite_settings(struct store *store, const struct load_sink *sink, struct err *err)
{
    struct db *db = &sqlite_of(store)->db;
    if (sink->queue != NULL)
        TRY(load_queues(db, sink, err));
    if (sink->team != NULL)
        TRY(load_teams(db, sink, err));
    return sink->calendar == NULL ? RC_OK : load_calendars(db, sink, err);
}

enum rc sqlite_load(struct store *store, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    struct db *db = &sqlite_of(store)->db;
    (void)own; /* there is one partition */
    TRY(sqlite_settings(store, sink, err));
    if (sink->counter != NULL)
        TRY(load_counters(db, sink, err));
    if (sink->rate != NULL)
        TRY(load_rates(db, sink, err));
    if (sink->breaker != NULL)
        TRY(load_breakers(db, sink, err));
    if (sink->operation != NULL)
        TRY(sqlite_load_operations(db, sink, err));
    if (sink->worker != NULL)
        TRY(load_workers(db, sink, err));
    if (sink->permit != NULL)
        TRY(sqlite_load_permits(db, sink, err));
    TRY(load_execs(db, until_ms, sink, err));
    if (sink->dependency != NULL)
        TRY(load_dependencies(db, sink, err));
    return sink->waiter == NULL ? RC_OK : sqlite_load_waiters(db, sink, err);
}
