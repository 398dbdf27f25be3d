#include "job/record/delta_ids.h"
#include "job/record/record_fields.h"
#include "store/sqlite/bind.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>

/* ---- statements: keep_x is for a row of the delta's part x; those about executions are in
 * commit_exec.c */

/* More than half a page of text is kept apart from its job: see table document. */
enum { DOCUMENT_INLINE_MAX = 2048 };

static enum rc insert_document(struct db *db, const struct job_rec *job, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_DOCUMENT);
    stmt_u64(&stmt, job->id);
    stmt_text(&stmt, job->spec);
    stmt_text(&stmt, job->payload);
    return stmt_done(&stmt, err);
}

static void bind_indexed(struct stmt *stmt, const struct job_rec *job)
{
    for (size_t i = 0; i < job_indexed_fields.len; i++)
        stmt_text_or_null(stmt, job_indexed_value(job, i));
}

/* Where they are small the job's own row has them; else it has NULLs. */
static bool bind_document(struct stmt *stmt, const struct job_rec *job)
{
    bool apart = job->spec.len + job->payload.len > DOCUMENT_INLINE_MAX;
    if (apart) {
        stmt_null(stmt);
        stmt_null(stmt);
    } else {
        stmt_text(stmt, job->spec);
        stmt_text(stmt, job->payload);
    }
    return apart;
}

static ALWAYS_INLINE void bind_job(struct stmt *stmt, const struct job_rec *job, struct str step,
                                   unsigned groups)
{
    JOB_ROW_FIELDS(BIND, job)
}

static enum rc insert_job(struct db *db, const struct job_change *change, struct err *err)
{
    const struct job_rec *job = &change->job;
    struct stmt stmt = db_stmt(db, SQL_INSERT_JOB);
    bind_job(&stmt, job, change->step, FIELD_HEAD | FIELD_TRAIL);
    bool apart = bind_document(&stmt, job);
    bind_indexed(&stmt, job);
    TRY(stmt_done(&stmt, err));
    return apart ? insert_document(db, job, err) : RC_OK;
}

static enum rc redefine_job(struct db *db, const struct job_rec *job, struct err *err)
{
    struct stmt delete = db_stmt(db, SQL_DELETE_DOCUMENT);
    stmt_u64(&delete, job->id);
    TRY(stmt_done(&delete, err));
    struct stmt stmt = db_stmt(db, SQL_REDEFINE_JOB);
    stmt_record(&stmt, &job_row_fields, FIELD_EDIT, job);
    bool apart = bind_document(&stmt, job);
    bind_indexed(&stmt, job);
    stmt_u64(&stmt, job->id);
    TRY(stmt_on_one(&stmt, "job", job->id, err));
    return apart ? insert_document(db, job, err) : RC_OK;
}

static enum rc update_job(struct db *db, const struct job_change *change, struct err *err)
{
    const struct job_rec *job = &change->job;
    struct stmt stmt = db_stmt(db, SQL_UPDATE_JOB);
    bind_job(&stmt, job, change->step, FIELD_PROGRESS | FIELD_END | FIELD_TRAIL);
    stmt_u64(&stmt, job->id);
    TRY(stmt_on_one(&stmt, "job", job->id, err));
    return change->redefined ? redefine_job(db, job, err) : RC_OK;
}

static enum rc keep_job(struct db *db, const struct job_change *change, struct err *err)
{
    assert(change->kind == CHANGE_INSERT || change->kind == CHANGE_UPDATE);
    if (change->with_exec)
        return RC_OK;
    if (change->kind == CHANGE_INSERT)
        return insert_job(db, change, err);
    return update_job(db, change, err);
}

static enum rc keep_exec(struct db *db, const struct exec_change *change, struct err *err)
{
    return sqlite_keep_exec(db, change, err);
}

static enum rc keep_attempt(struct db *db, const struct attempt_rec *attempt, struct err *err)
{
    return attempt->with_exec ? RC_OK : sqlite_keep_attempt(db, attempt, err);
}

static enum rc keep_released(struct sqlite_store *s, const struct claim *claim, struct err *err)
{
    struct db *db = &s->db;
    if (claim->kind == CLAIM_REQUEST)
        return requests_release(&s->requests, db, claim, err);
    struct stmt stmt = db_stmt(db, SQL_RELEASE_CLAIM);
    stmt_i64(&stmt, claim->kind);
    stmt_text(&stmt, claim->key);
    stmt_u64(&stmt, claim->holder);
    return stmt_done(&stmt, err);
}

static enum rc keep_claim(struct sqlite_store *s, const struct claim *claim, struct err *err)
{
    struct db *db = &s->db;
    if (claim->kind == CLAIM_REQUEST)
        return requests_put(&s->requests, db, claim, err);
    struct stmt stmt = db_stmt(db, SQL_PUT_CLAIM);
    stmt_i64(&stmt, claim->kind);
    stmt_text(&stmt, claim->key);
    stmt_u64(&stmt, claim->holder);
    stmt_i64(&stmt, claim->until_ms);
    stmt_text(&stmt, claim->note);
    return stmt_done(&stmt, err);
}

static enum rc keep_worker(struct db *db, const struct worker_change *change, struct err *err)
{
    const struct worker_rec *worker = &change->worker;
    struct stmt stmt = db_stmt(db, change->forget ? SQL_FORGET_WORKER : SQL_PUT_WORKER);
    stmt_record(&stmt, &worker_fields, change->forget ? FIELD_KEY : FIELD_ANY, worker);
    return stmt_done(&stmt, err);
}

static enum rc keep_queue(struct db *db, const struct queue_rec *queue, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_QUEUE);
    stmt_record(&stmt, &queue_fields, FIELD_ANY, queue);
    return stmt_done(&stmt, err);
}

static enum rc keep_team(struct db *db, const struct team_rec *team, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_TEAM);
    stmt_record(&stmt, &team_fields, FIELD_ANY, team);
    return stmt_done(&stmt, err);
}

static enum rc keep_rate(struct db *db, const struct rate_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, change->forget ? SQL_FORGET_RATE : SQL_PUT_RATE);
    stmt_record(&stmt, &rate_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->rate);
    return stmt_done(&stmt, err);
}

static enum rc keep_alert(struct db *db, const struct alert_rec *alert, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_ALERT);
    stmt_record(&stmt, &alert_fields, FIELD_ANY, alert);
    return stmt_done(&stmt, err);
}

static enum rc keep_alert_mark(struct db *db, const struct alert_mark *mark, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_MARK_ALERT);
    stmt_i64(&stmt, mark->state);
    stmt_u64(&stmt, mark->id);
    return stmt_done(&stmt, err);
}

static enum rc keep_alert_ack(struct db *db, const struct alert_ack *ack, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_ACK_ALERT);
    stmt_i64(&stmt, ack->at_ms);
    stmt_text(&stmt, ack->by);
    stmt_text(&stmt, ack->note);
    stmt_u64(&stmt, ack->id);
    return stmt_done(&stmt, err);
}

static enum rc keep_silence(struct db *db, const struct silence_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, change->forget ? SQL_FORGET_SILENCE : SQL_PUT_SILENCE);
    stmt_record(&stmt, &silence_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->silence);
    return stmt_done(&stmt, err);
}

static enum rc keep_sla_event(struct db *db, const struct sla_event_rec *event, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_SLA_EVENT);
    stmt_record(&stmt, &sla_event_fields, FIELD_ANY, event);
    return stmt_done(&stmt, err);
}

static enum rc keep_breaker(struct db *db, const struct breaker_rec *breaker, struct err *err)
{
    bool forget = breaker->state == BREAKER_CLOSED;
    struct stmt stmt = db_stmt(db, forget ? SQL_FORGET_BREAKER : SQL_PUT_BREAKER);
    stmt_record(&stmt, &breaker_fields, forget ? FIELD_KEY : FIELD_ANY, breaker);
    return stmt_done(&stmt, err);
}

static enum rc keep_clock(struct db *db, const struct clock_rec *clock, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_CLOCK);
    stmt_i64(&stmt, clock->at_ms);
    stmt_i64(&stmt, clock->by_ms);
    return stmt_done(&stmt, err);
}

static enum rc keep_dependency(struct db *db, const struct dependency_rec *rec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_DEPENDENCY);
    stmt_record(&stmt, &dependency_fields, FIELD_ANY, rec);
    return stmt_done(&stmt, err);
}

static enum rc keep_calendar(struct db *db, const struct calendar_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, change->forget ? SQL_FORGET_CALENDAR : SQL_PUT_CALENDAR);
    stmt_record(&stmt, &calendar_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->calendar);
    return stmt_done(&stmt, err);
}

static enum rc keep_calendar_use(struct db *db, const struct calendar_use *use, struct err *err)
{
    struct stmt stmt = db_stmt(db, use->forget ? SQL_FORGET_CALENDAR_USE : SQL_PUT_CALENDAR_USE);
    stmt_text(&stmt, use->calendar);
    stmt_u64(&stmt, use->job_id);
    return stmt_done(&stmt, err);
}

static enum rc keep_counter(struct db *db, const struct counter *counter, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_ADD_COUNTER);
    stmt_i64(&stmt, counter->kind);
    stmt_text(&stmt, counter->queue);
    stmt_i64(&stmt, counter->state);
    stmt_i64(&stmt, counter->value);
    return stmt_done(&stmt, err);
}

static enum rc keep_tally(struct db *db, const struct tally *row, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_ADD_TALLY);
    stmt_i64(&stmt, row->scope);
    stmt_text(&stmt, row->key);
    stmt_i64(&stmt, row->hour);
    stmt_i64(&stmt, row->end);
    stmt_i64(&stmt, row->bucket);
    stmt_u64(&stmt, row->count);
    stmt_u64(&stmt, row->sum_ms);
    return stmt_done(&stmt, err);
}

/* ---- the delta */

/* Checks the epoch and marks the turn as kept, in one statement. */
static enum rc keep_turn(struct sqlite_store *s, const struct ownership *own,
                         const struct delta *delta, struct err *err)
{
    struct ids ids = delta_ids((struct ids){.newest = s->newest_id}, delta);
    struct stmt stmt = db_stmt(&s->db, SQL_KEEP_TURN);
    stmt_u64(&stmt, delta->turn);
    stmt_u64(&stmt, ids.newest);
    stmt_i64(&stmt, ids.drift_ms);
    stmt_u64(&stmt, 0);
    stmt_u64(&stmt, own->epochs[0]);
    TRY(stmt_done(&stmt, err));
    return sqlite3_changes(s->db.handle) == 1 ? RC_OK : sqlite_turn_deposed(own, err);
}

#define KEEP_IN(where, one, many)                                                                  \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        TRY(keep_##one(where, &delta->many[i], err));
#define KEEP(one, many, type, alone) KEEP_IN(&s->db, one, many)
#define KEEP_CLAIM(one, many, type, alone) KEEP_IN(s, one, many)

static enum rc keep_version(struct db *db, const struct version_change *change, struct err *err)
{
    struct stmt first = db_stmt(db, SQL_KEEP_FIRST_VERSION);
    stmt_u64(&first, change->version.job_id);
    TRY(stmt_done(&first, err));
    struct stmt put = db_stmt(db, SQL_PUT_VERSION);
    stmt_record(&put, &version_fields, FIELD_ANY, &change->version);
    TRY(stmt_done(&put, err));
    struct stmt trim = db_stmt(db, SQL_TRIM_VERSIONS);
    stmt_u64(&trim, change->version.job_id);
    stmt_u64(&trim, change->oldest);
    return stmt_done(&trim, err);
}

static enum rc keep_work(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    DELTA_WORK(KEEP)
    return RC_OK;
}

static enum rc keep_letters(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    return sqlite_keep_letters(&s->db, delta, err);
}

/* Unique work that was kept after its success. */
static enum rc sweep_claims(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    struct stmt stmt = db_stmt(&s->db, SQL_SWEEP_CLAIMS);
    stmt_i64(&stmt, delta->claims_now_ms);
    stmt_u64(&stmt, CLAIM_SWEEP + 2 * delta->claim_count);
    return stmt_done(&stmt, err);
}

static enum rc keep_claims(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    DELTA_CLAIMS(KEEP_CLAIM)
    if (delta_sweeps_claims(delta))
        TRY(sweep_claims(s, delta, err));
    return requests_sweep(&s->requests, &s->db, delta->claims_now_ms,
                          CLAIM_SWEEP + 2 * s->taken_claims, err);
}

static enum rc keep_settings(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    DELTA_SETTINGS(KEEP)
    return delta->clock.at_ms != 0 ? keep_clock(&s->db, &delta->clock, err) : RC_OK;
}

static enum rc keep_mail(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    return sqlite_keep_mail(&s->db, delta, err);
}

static enum rc keep_reports(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    DELTA_REPORTS(KEEP)
    return RC_OK;
}

static enum rc keep_gone(struct sqlite_store *s, const struct delta *delta, struct err *err)
{
    return sqlite_forget(&s->db, delta, err);
}

#define KEEP_GROUP(name, list, part) TRY(keep_##name(s, delta, err));

static enum rc keep(struct sqlite_store *s, const struct ownership *own, const struct delta *delta,
                    struct err *err)
{
    TRY(keep_turn(s, own, delta, err));
    DELTA_GROUPS(KEEP_GROUP, )
    return RC_OK;
}

enum rc sqlite_commit(struct store *store, const struct ownership *own, const struct delta *delta,
                      struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    TRY(sqlite_turn_begin(s, own, err));
    if (delta_is_empty(delta) && delta->counter_count == 0 && s->taken_claims == 0) {
        sqlite_turn_abort(s); /* it only read: nothing to write, nothing to sync */
        return RC_OK;
    }
    enum rc rc = keep(s, own, delta, err);
    if (rc != RC_OK) {
        sqlite_turn_abort(s);
        return rc;
    }
    /* A server that dies up to here leaves nothing: all of it is in the connection's cache, or in
     * the log behind the last commit, where recovery stops. */
    return sqlite_turn_commit(s, err);
    /* One that dies from here on leaves all of it: the log was synced before COMMIT returned. In
     * between, the sync decides, and the next start finds the turn's number or does not. */
}
