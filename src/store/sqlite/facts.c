/* facts.c - what lists and pages ask about many at once: by key, one after the other. */
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

static enum rc read_one(struct db *db, enum sql sql, uint64_t id, struct arena *arena,
                        struct job_rec *ret_job, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, sql);
    bool found;
    *ret_job = (struct job_rec){0};
    stmt_u64(&stmt, id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    if (!row_job(&row, ret_job))
        *ret_job = (struct job_rec){0};
    return RC_OK;
}

static enum rc read_each(struct reader *reader, enum sql sql, const uint64_t *job_ids, size_t count,
                         struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    TRY(sqlite_snapshot(reader, &db, err));
    for (size_t i = 0; i < count; i++)
        TRY(read_one(db, sql, job_ids[i], arena, &ret_jobs[i], err));
    return RC_OK;
}

enum rc sqlite_read_heads(struct reader *reader, const uint64_t *job_ids, size_t count,
                          struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    return read_each(reader, SQL_READ_HEAD, job_ids, count, arena, ret_jobs, err);
}

enum rc sqlite_read_standings(struct reader *reader, const uint64_t *job_ids, size_t count,
                              struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    return read_each(reader, SQL_READ_STANDING, job_ids, count, arena, ret_jobs, err);
}

static enum rc read_newest(struct db *db, uint64_t exec_id, struct attempt_rec *ret_attempt,
                           struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_NEWEST_ATTEMPT);
    bool found;
    *ret_attempt = (struct attempt_rec){0};
    stmt_u64(&stmt, exec_id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, NULL);
    (void)row_attempt_head(&row, ret_attempt);
    return RC_OK;
}

enum rc sqlite_read_newest_attempts(struct reader *reader, const uint64_t *exec_ids, size_t count,
                                    struct arena *arena, struct attempt_rec *ret_attempts,
                                    struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    (void)arena;
    TRY(sqlite_snapshot(reader, &db, err));
    for (size_t i = 0; i < count; i++)
        TRY(read_newest(db, exec_ids[i], &ret_attempts[i], err));
    return RC_OK;
}
