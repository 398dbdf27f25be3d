/* commit_exec.c - executions and attempts of a delta. */
#include "job/record/record_fields.h"
#include "store/sqlite/sqlite.h"
#include "store/usage_text.h"

#include <stdlib.h>

/* The three parts of an execution, in the order of the statements in sql/commit.sql. */
static void bind_birth(struct stmt *stmt, const struct exec_rec *exec)
{
    stmt_u64(stmt, exec->id);
    stmt_u64(stmt, exec->job_id);
    stmt_text(stmt, exec->queue);
    stmt_i64(stmt, exec->priority);
    stmt_u64(stmt, exec->retry_of);
    stmt_i64(stmt, exec->first);
    stmt_i64(stmt, exec->origin);
    stmt_i64(stmt, exec->slot_ms);
    stmt_i64(stmt, exec->nominal_ms);
    stmt_i64(stmt, exec->created_ms);
}

static void bind_progress(struct stmt *stmt, const struct exec_rec *exec, struct str step)
{
    stmt_i64(stmt, exec->state);
    stmt_i64(stmt, exec->due_ms);
    stmt_i64(stmt, exec->ready_ms);
    stmt_i64(stmt, exec->started_ms);
    stmt_i64(stmt, exec->attempts);
    stmt_i64(stmt, exec->lost);
    stmt_i64(stmt, exec->returned);
    stmt_i64(stmt, exec->late);
    stmt_i64(stmt, exec->sla_since_ms);
    stmt_i64(stmt, exec->sla_extra_ms);
    stmt_i64(stmt, exec->sla_marks);
    stmt_u64(stmt, exec->token);
    stmt_u64(stmt, exec->worker_id);
    stmt_i64(stmt, exec->effect_done);
    stmt_text(stmt, exec->error);
    stmt_text(stmt, step);
}

static void bind_unseen(struct stmt *stmt, const struct exec_rec *exec)
{
    stmt_i64(stmt, exec->unseen);
    stmt_i64(stmt, exec->proven);
}

static void bind_end(struct stmt *stmt, const struct exec_rec *exec)
{
    stmt_i64(stmt, exec->finished_ms);
    stmt_text(stmt, exec->result);
    stmt_i64(stmt, exec->slot_last_ms);
    stmt_u64(stmt, exec->slot_count);
}

static enum rc insert_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_LIVE);
    bind_birth(&stmt, &change->exec);
    bind_progress(&stmt, &change->exec, change->step);
    bind_unseen(&stmt, &change->exec);
    return stmt_done(&stmt, err);
}

static enum rc move_exec(struct db *db, const struct exec_rec *exec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_MOVE_LIVE);
    stmt_text(&stmt, exec->queue);
    stmt_i64(&stmt, exec->priority);
    stmt_i64(&stmt, exec->slot_ms);
    stmt_i64(&stmt, exec->nominal_ms);
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
    bind_progress(&stmt, &change->exec, change->step);
    bind_unseen(&stmt, &change->exec);
    stmt_u64(&stmt, change->exec.id);
    TRY(stmt_on_one(&stmt, "execution", change->exec.id, err));
    if (change->exec.recharged)
        TRY(charge_exec(db, &change->exec, err));
    return change->moved ? move_exec(db, &change->exec, err) : RC_OK;
}

static enum rc record_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_HISTORY);
    bind_birth(&stmt, &change->exec);
    bind_progress(&stmt, &change->exec, change->step);
    bind_end(&stmt, &change->exec);
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
    bind_birth(&insert, &change->exec);
    bind_progress(&insert, &change->exec, change->step);
    bind_end(&insert, &change->exec);
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
