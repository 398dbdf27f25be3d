#include "bench/harness/ledger.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

enum { PATH_BYTES_MAX = 4096 };

/* 7: OUTCOME_RETURNED */
static const char sql_totals[] = "SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM live),"
                                 " (SELECT count(*) FROM attempt WHERE outcome <> 7)"
                                 " + (SELECT count(attempt_outcome) FROM history),"
                                 " (SELECT turn FROM partition)";
static const char sql_history[] = "SELECT state, count(*) FROM history GROUP BY state";
static const char sql_bytes[] = "SELECT page_count * page_size"
                                " FROM pragma_page_count, pragma_page_size";

typedef void row_sink(struct ledger *ledger, sqlite3_stmt *row);

static void close_db(sqlite3 **db)
{
    sqlite3_close(*db);
}

static enum rc fail(sqlite3 *db, const char *path, struct err *err)
{
    return err_set(err, RC_IO, "cannot count in %s: %s", path, sqlite3_errmsg(db));
}

static enum rc each_row(sqlite3 *db, const char *path, const char *sql, row_sink *sink,
                        struct ledger *ledger, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = SQLITE_ROW;
    while (code == SQLITE_ROW && (code = sqlite3_step(stmt)) == SQLITE_ROW)
        sink(ledger, stmt);
    enum rc rc = code == SQLITE_DONE ? RC_OK : fail(db, path, err);
    sqlite3_finalize(stmt);
    return rc;
}

static uint64_t column(sqlite3_stmt *row, int at)
{
    return (uint64_t)sqlite3_column_int64(row, at);
}

static void take_totals(struct ledger *ledger, sqlite3_stmt *row)
{
    ledger->jobs = column(row, 0);
    ledger->live = column(row, 1);
    ledger->attempts = column(row, 2);
    ledger->commits = column(row, 3);
}

static void take_history(struct ledger *ledger, sqlite3_stmt *row)
{
    uint64_t state = column(row, 0);
    ledger->history[state < EXEC_STATES ? state : EXEC_NONE] += column(row, 1);
}

static void take_bytes(struct ledger *ledger, sqlite3_stmt *row)
{
    ledger->bytes = column(row, 0);
}

enum rc ledger_read(const char *data_dir, struct ledger *ret_ledger, struct err *err)
{
    CLEANUP(close_db) sqlite3 *db = NULL;
    char path[PATH_BYTES_MAX];
    struct ledger ledger = {0};
    snprintf(path, sizeof path, "%s/belfry.db", data_dir);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return fail(db, path, err);
    TRY(each_row(db, path, sql_totals, take_totals, &ledger, err));
    TRY(each_row(db, path, sql_history, take_history, &ledger, err));
    TRY(each_row(db, path, sql_bytes, take_bytes, &ledger, err));
    *ret_ledger = ledger;
    return RC_OK;
}

static enum rc compare(const char *what, uint64_t found, uint64_t expected, struct err *err)
{
    if (found == expected)
        return RC_OK;
    return err_set(err, RC_CORRUPT, "the database holds %" PRIu64 " %s instead of %" PRIu64, found,
                   what, expected);
}

enum rc ledger_check(const struct ledger *ledger, const struct ledger_truth *truth, struct err *err)
{
    uint64_t all = 0;
    for (size_t i = 0; i < EXEC_STATES; i++)
        all += ledger->history[i];
    bool recurs = truth->recurring > 0;
    uint64_t jobs = recurs ? truth->recurring : truth->completed + truth->waiting + truth->failed;
    TRY(compare("jobs", ledger->jobs, jobs, err));
    if (!recurs)
        TRY(compare("unfinished executions", ledger->live, truth->waiting, err));
    TRY(compare("completed executions", ledger->history[EXEC_COMPLETED], truth->completed, err));
    TRY(compare("failed executions", ledger->history[EXEC_FAILED], truth->failed, err));
    if (!recurs)
        TRY(compare("finished executions", all, truth->completed + truth->failed, err));
    return compare("attempts", ledger->attempts, truth->completed + truth->more_tries, err);
}
