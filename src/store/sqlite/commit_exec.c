/* commit_exec.c - executions and attempts of a delta. */
#include "store/sqlite/bind.h"
#include "store/sqlite/sqlite.h"
#include "store/usage_text.h"

#include <stdlib.h>

/* Every execution is written three times in its life. */
static ALWAYS_INLINE void bind_exec(struct stmt *stmt, const struct exec_rec *exec, struct str step,
                                    unsigned groups)
{
    EXEC_FIELDS(BIND, exec)
}

static enum rc insert_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_LIVE);
    bind_exec(&stmt, &change->exec, change->step, FIELD_LIVE | FIELD_TRAIL | FIELD_MARK);
    return stmt_done(&stmt, err);
}

static enum rc move_exec(struct db *db, const struct exec_rec *exec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_MOVE_LIVE);
    bind_exec(&stmt, exec, STR(""), FIELD_MOVED);
    stmt_u64(&stmt, exec->id);
    return stmt_on_one(&stmt, "execution", exec->id, err);
}

static enum rc charge_exec(struct db *db, const struct exec_rec *exec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_CHARGE_LIVE);
    stmt_text(&stmt, exec->charged);
    stmt_u64(&stmt, exec->id);
    return stmt_on_one(&stmt, "execution", exec->id, err);
}

static enum rc update_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_UPDATE_LIVE);
    bind_exec(&stmt, &change->exec, change->step,
              FIELD_PROGRESS | FIELD_ERROR | FIELD_TRAIL | FIELD_MARK);
    stmt_u64(&stmt, change->exec.id);
    TRY(stmt_on_one(&stmt, "execution", change->exec.id, err));
    if (change->exec.recharged)
        TRY(charge_exec(db, &change->exec, err));
    return change->moved ? move_exec(db, &change->exec, err) : RC_OK;
}

enum { ENDED = FIELD_LIVE | FIELD_TRAIL | FIELD_END | FIELD_BULK };

static enum rc record_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_HISTORY);
    bind_exec(&stmt, &change->exec, change->step, ENDED);
    return stmt_done(&stmt, err);
}

static void bind_nulls(struct stmt *stmt, int count)
{
    while (count-- > 0)
        stmt_null(stmt);
}

static void bind_job_end(struct stmt *stmt, const struct job_change *job)
{
    if (job == NULL) {
        bind_nulls(stmt, 2);
        return;
    }
    stmt_i64(stmt, job->job.state);
    stmt_text(stmt, job->step);
}

/* usage_bytes holds the text that is bound, until the statement was run. */
static void bind_attempt_end(struct stmt *stmt, const struct attempt_rec *attempt,
                             struct str exec_error, char *usage_bytes)
{
    if (attempt == NULL) {
        bind_nulls(stmt, 10);
        return;
    }
    stmt_i64(stmt, attempt->outcome);
    stmt_i64(stmt, attempt->number);
    stmt_u64(stmt, attempt->worker_id);
    stmt_i64(stmt, attempt->started_ms);
    stmt_i64(stmt, attempt->ended_ms);
    stmt_text_or_null(stmt, usage_print(&attempt->usage, usage_bytes));
    if (str_eq(attempt->error, exec_error))
        stmt_null(stmt);
    else
        stmt_text(stmt, attempt->error);
    if (attempt->class == FAILURE_NONE) {
        bind_nulls(stmt, 2);
    } else {
        stmt_i64(stmt, attempt->class);
        stmt_u64(stmt, attempt->fingerprint);
    }
    stmt_text_or_null(stmt, attempt->tail);
}

static enum rc finish_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    char usage[USAGE_TEXT_MAX];
    struct stmt insert = db_stmt(db, SQL_FINISH_LIVE);
    bind_exec(&insert, &change->exec, change->step, ENDED);
    bind_job_end(&insert, change->ends_job);
    bind_attempt_end(&insert, change->ends_attempt, change->exec.error, usage);
    TRY(stmt_done(&insert, err));
    struct stmt delete = db_stmt(db, SQL_DELETE_LIVE);
    stmt_u64(&delete, change->exec.id);
    return stmt_on_one(&delete, "execution", change->exec.id, err);
}

static enum rc insert_payload(struct db *db, const struct exec_rec *exec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_PAYLOAD);
    stmt_u64(&stmt, exec->id);
    stmt_text(&stmt, exec->payload);
    return stmt_done(&stmt, err);
}

enum rc sqlite_keep_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    if (change->exec.payload.len > 0)
        TRY(insert_payload(db, &change->exec, err));
    switch (change->kind) {
    case CHANGE_INSERT: return insert_exec(db, change, err);
    case CHANGE_UPDATE: return update_exec(db, change, err);
    case CHANGE_FINISH: return finish_exec(db, change, err);
    case CHANGE_RECORD: return record_exec(db, change, err);
    }
    abort(); /* a change that does not exist: our own mistake */
}

enum rc sqlite_keep_attempt(struct db *db, const struct attempt_rec *attempt, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_ATTEMPT);
    stmt_record(&stmt, &attempt_fields, FIELD_ANY, attempt);
    return stmt_done(&stmt, err);
}
