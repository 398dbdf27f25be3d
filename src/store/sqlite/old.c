/* old.c - what is too old: found for the engine, and deleted when it says so. */
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

/* ---- deleting */

/* How an execution ended its job, as long as the job's own row does not say it (0: that does). */
struct last_words {
    uint64_t job_id;
    uint64_t job_state;
    int64_t finished_ms;
    struct str step;
};

/* The deletions of one turn. */
struct deleting {
    struct db *db;
    struct arena texts; /* of one execution at a time */
};

static void deleting_end(struct deleting *d)
{
    arena_free(&d->texts);
}

static enum rc delete_exec(struct db *db, uint64_t exec_id, struct arena *arena,
                           struct last_words *ret_words, bool *ret_found, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_FORGET_EXEC);
    stmt_u64(&stmt, exec_id);
    TRY(stmt_next(&stmt, ret_found, err));
    if (!*ret_found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct last_words words = {0};
    words.job_id = row_u64(&row);
    words.job_state = row_u64(&row);
    words.finished_ms = row_ms(&row);
    words.step = row_text(&row);
    *ret_words = words;
    bool more;
    return stmt_next(&stmt, &more, err); /* to its end, which is where it is done */
}

static enum rc run_with(struct db *db, enum sql sql, uint64_t id, struct err *err)
{
    struct stmt stmt = db_stmt(db, sql);
    stmt_u64(&stmt, id);
    return stmt_done(&stmt, err);
}

/* A job that is over goes with the last of its executions; one that stays takes over what the row
 * said about its end. */
static enum rc let_job_go(struct db *db, uint64_t exec_id, const struct last_words *words,
                          struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_FORGET_JOB);
    stmt_u64(&stmt, words->job_id);
    stmt_u64(&stmt, exec_id);
    stmt_u64(&stmt, words->job_state);
    TRY(stmt_done(&stmt, err));
    if (sqlite3_changes(db->handle) > 0) {
        TRY(run_with(db, SQL_FORGET_DOCUMENT, words->job_id, err));
        TRY(run_with(db, SQL_FORGET_VERSIONS, words->job_id, err));
        return run_with(db, SQL_FORGET_DEPENDENCIES, words->job_id, err);
    }
    if (words->job_state == 0)
        return RC_OK;
    struct stmt fold = db_stmt(db, SQL_FOLD_JOB);
    stmt_u64(&fold, words->job_state);
    stmt_i64(&fold, words->finished_ms);
    stmt_text(&fold, words->step);
    stmt_u64(&fold, exec_id);
    stmt_u64(&fold, words->job_id);
    return stmt_done(&fold, err);
}

static enum rc keep_forgotten(struct deleting *d, const uint64_t *exec_id, struct err *err)
{
    struct db *db = d->db;
    struct last_words words = {0};
    bool found;
    arena_reset(&d->texts);
    TRY(delete_exec(db, *exec_id, &d->texts, &words, &found, err));
    TRY(run_with(db, SQL_FORGET_ATTEMPTS, *exec_id, err));
    TRY(run_with(db, SQL_FORGET_SLA_EVENTS, *exec_id, err));
    TRY(run_with(db, SQL_FORGET_PAYLOAD, *exec_id, err));
    return found ? let_job_go(db, *exec_id, &words, err) : RC_OK;
}

static enum rc keep_queue_gone(struct deleting *d, const struct queue_gone *gone, struct err *err)
{
    if (gone->settings) {
        struct stmt stmt = db_stmt(d->db, SQL_FORGET_QUEUE);
        stmt_text(&stmt, gone->name);
        TRY(stmt_done(&stmt, err));
    }
    if (!gone->numbers)
        return RC_OK;
    struct stmt move = db_stmt(d->db, SQL_MOVE_COUNTERS);
    stmt_text(&move, gone->name);
    TRY(stmt_done(&move, err));
    struct stmt stmt = db_stmt(d->db, SQL_FORGET_COUNTERS);
    stmt_text(&stmt, gone->name);
    return stmt_done(&stmt, err);
}

static enum rc keep_alert_gone(struct deleting *d, const uint64_t *id, struct err *err)
{
    return run_with(d->db, SQL_FORGET_ALERT, *id, err);
}

static enum rc keep_operation_gone(struct deleting *d, const uint64_t *id, struct err *err)
{
    return run_with(d->db, SQL_FORGET_OPERATION, *id, err);
}

static enum rc keep_tally_gone(struct deleting *d, const struct tally *row, struct err *err)
{
    struct stmt stmt = db_stmt(d->db, SQL_FORGET_TALLY);
    stmt_i64(&stmt, row->scope);
    stmt_text(&stmt, row->key);
    stmt_i64(&stmt, row->hour);
    stmt_i64(&stmt, row->end);
    stmt_i64(&stmt, row->bucket);
    return stmt_done(&stmt, err);
}

#define KEEP(one, many, type, alone)                                                               \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        TRY(keep_##one(&d, &delta->many[i], err));

enum rc sqlite_forget(struct db *db, const struct delta *delta, struct err *err)
{
    CLEANUP(deleting_end) struct deleting d = {.db = db};
    DELTA_GONE(KEEP)
    return RC_OK;
}

/* ---- asking */

enum rc sqlite_find_old(struct sqlite_store *s, struct arena *arena, struct question *q,
                        struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_OLD);
    VEC(struct old_exec) old = {0};
    stmt_u64(&stmt, q->after_id);
    stmt_i64(&stmt, q->until_ms);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        q->answer.more = found && old.len == q->limit;
        if (!found || q->answer.more)
            break;
        struct row row = stmt_row(&stmt, NULL);
        struct old_exec exec = {.id = row_u64(&row)};
        exec.finished_ms = row_i64(&row);
        exec.is_letter = row_i64(&row) != 0;
        exec.is_named = row_i64(&row) != 0 || row.bad; /* a corrupt row is not deleted */
        *VEC_PUSH(arena, &old) = exec;
    }
    q->answer.old = old.items;
    q->answer.old_count = old.len;
    return RC_OK;
}

/* A row that makes no sense waits for its delivery, as far as anybody knows: it is not deleted. */
enum rc sqlite_find_old_alerts(struct sqlite_store *s, struct arena *arena, struct question *q,
                               struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_OLD_ALERTS);
    VEC(struct old_alert) old = {0};
    stmt_u64(&stmt, q->after_id);
    stmt_i64(&stmt, q->until_ms);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        q->answer.more = found && old.len == q->limit;
        if (!found || q->answer.more)
            break;
        struct row row = stmt_row(&stmt, NULL);
        struct old_alert alert = {.id = row_u64(&row)};
        alert.at_ms = row_i64(&row);
        alert.state = (enum alert_state)row_u32(&row);
        if (row.bad || alert.state < ALERT_KEPT || alert.state >= ALERT_STATES)
            alert.state = ALERT_PENDING;
        *VEC_PUSH(arena, &old) = alert;
    }
    q->answer.old_alerts = old.items;
    q->answer.old_alert_count = old.len;
    return RC_OK;
}

enum rc sqlite_find_old_tallies(struct sqlite_store *s, struct arena *arena, struct question *q,
                                struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_OLD_TALLIES);
    VEC(struct tally) old = {0};
    stmt_i64(&stmt, q->hour);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        q->answer.more = found && old.len == q->limit;
        if (!found || q->answer.more)
            break;
        struct row row = stmt_row(&stmt, arena);
        struct tally *tally = VEC_PUSH(arena, &old);
        *tally = (struct tally){.scope = (enum tally_scope)row_u32(&row)};
        tally->key = row_text(&row);
        tally->hour = row_i64(&row);
        tally->end = (enum exec_state)row_u32(&row);
        tally->bucket = row_u32(&row);
    }
    q->answer.tallies = old.items;
    q->answer.tally_count = old.len;
    return RC_OK;
}
