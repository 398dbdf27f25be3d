#include "base/id.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <stdlib.h>

static enum rc claim_holder(struct sqlite_store *s, const struct claim *claim, struct arena *arena,
                            struct answer *ret_answer, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_CLAIM_HOLDER);
    bool found;
    stmt_i64(&stmt, claim->kind);
    stmt_text(&stmt, claim->key);
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, arena);
    ret_answer->holder = row_u64(&row);
    ret_answer->note = row_text(&row);
    if (!found || row.bad)
        return err_set(err, RC_CONFLICT, "%s: the claim on '%.*s' is corrupt", s->db.path,
                       STR_ARG(claim->key)); /* refuses that command alone */
    return RC_OK;
}

/* A key is never decided from a read: the insert decides, and only who lost asks who has it. */
static enum rc insert_claim(struct sqlite_store *s, struct arena *arena, struct question *q,
                            bool *ret_taken, struct err *err)
{
    struct stmt stmt = db_stmt(&s->db, SQL_TAKE_CLAIM);
    stmt_i64(&stmt, q->claim.kind);
    stmt_text(&stmt, q->claim.key);
    stmt_u64(&stmt, q->claim.holder);
    stmt_i64(&stmt, q->claim.until_ms);
    stmt_text(&stmt, q->claim.note);
    stmt_i64(&stmt, q->now_ms);
    TRY(stmt_done(&stmt, err));
    *ret_taken = sqlite3_changes(s->db.handle) == 1;
    return *ret_taken ? RC_OK : claim_holder(s, &q->claim, arena, &q->answer, err);
}

static enum rc take_claim(struct sqlite_store *s, struct arena *arena, struct question *q,
                          struct err *err)
{
    bool taken;
    if (q->claim.kind == CLAIM_REQUEST)
        TRY(requests_take(&s->requests, &s->db, &q->claim, q->now_ms, arena, &q->answer, &taken,
                          err));
    else
        TRY(insert_claim(s, arena, q, &taken, err));
    if (!taken)
        return RC_OK;
    q->answer = (struct answer){.holder = q->claim.holder};
    s->taken_claims++;
    if (q->claim.holder > s->newest_id)
        s->newest_id = q->claim.holder;
    return RC_OK;
}

/* The first that a statement finds; NULL when there is none, or it makes no sense. */
static enum rc first_exec(struct stmt *stmt, struct arena *arena, const struct exec_rec **ret_exec,
                          struct err *err)
{
    bool found;
    *ret_exec = NULL;
    TRY(stmt_next(stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(stmt, arena);
    struct exec_rec *exec = ARENA_NEW(arena, struct exec_rec);
    if (row_exec(&row, exec))
        *ret_exec = exec;
    return RC_OK;
}

static enum rc find_newest(struct sqlite_store *s, struct arena *arena, struct question *q,
                           struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_LIVE);
    stmt_u64(&stmt, q->answer.jobs[0].last_exec);
    return first_exec(&stmt, arena, &q->answer.newest, err);
}

static enum rc find_job(struct sqlite_store *s, uint64_t id, struct arena *arena,
                        struct question *q, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_JOB);
    bool found;
    stmt_u64(&stmt, id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct job_rec *job = ARENA_NEW(arena, struct job_rec);
    if (!row_job(&row, job))
        return RC_OK;
    q->answer.jobs = job;
    q->answer.job_count = 1;
    return find_newest(s, arena, q, err);
}

/* Here and in find_slot: without such an execution the answer is about the job alone. */
static enum rc find_ahead(struct sqlite_store *s, struct arena *arena, struct question *q,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_AHEAD);
    stmt_u64(&stmt, q->id);
    TRY(first_exec(&stmt, arena, &q->answer.exec, err));
    return find_job(s, q->id, arena, q, err);
}

static enum rc find_letter(struct sqlite_store *s, struct arena *arena, struct question *q,
                           struct err *err)
{
    struct letter_rec *letter = ARENA_NEW(arena, struct letter_rec);
    bool found;
    TRY(sqlite_find_letter(&s->db, SQL_FIND_LETTER, q->id, arena, letter, &found, err));
    q->answer.letters = letter;
    q->answer.letter_count = found;
    return RC_OK;
}

static enum rc find_exec(struct sqlite_store *s, struct arena *arena, struct question *q,
                         struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_EXEC);
    bool found;
    stmt_u64(&stmt, q->id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct exec_rec *exec = ARENA_NEW(arena, struct exec_rec);
    if (!row_exec(&row, exec))
        return RC_OK;
    if (exec->own_payload)
        TRY(sqlite_payload(&s->db, SQL_FETCH_PAYLOAD, exec->id, arena, &exec->payload, err));
    q->answer.exec = exec;
    if (exec->state == EXEC_FAILED || exec->state == EXEC_TIMEOUT)
        TRY(find_letter(s, arena, q, err));
    return find_job(s, exec->job_id, arena, q, err);
}

static enum rc find_slot(struct sqlite_store *s, struct arena *arena, struct question *q,
                         struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_SLOT);
    stmt_u64(&stmt, q->id);
    stmt_i64(&stmt, q->until_ms);
    TRY(first_exec(&stmt, arena, &q->answer.exec, err));
    return find_job(s, q->id, arena, q, err);
}

static enum rc find_met(struct sqlite_store *s, struct arena *arena, struct question *q,
                        struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_MET);
    VEC(struct dependency_rec) met = {0};
    VEC(struct job_rec) jobs = {0};
    bool found;
    stmt_u64(&stmt, q->id);
    for (;;) {
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        struct dependency_rec dependency;
        struct job_rec job;
        if (!row_dependency(&row, &dependency) || !row_job(&row, &job))
            continue;
        *VEC_PUSH(arena, &met) = dependency;
        *VEC_PUSH(arena, &jobs) = job;
    }
    q->answer = (struct answer){.jobs = jobs.items, .job_count = jobs.len, .met = met.items};
    return RC_OK;
}

static enum rc find_attempt(struct sqlite_store *s, struct arena *arena, struct question *q,
                            struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_ATTEMPT);
    bool found;
    stmt_u64(&stmt, q->id);
    stmt_u64(&stmt, q->token);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct attempt_rec *attempt = ARENA_NEW(arena, struct attempt_rec);
    if (row_attempt(&row, attempt))
        q->answer.attempt = attempt;
    return RC_OK;
}

/* One that cannot be read is left out: it only explains. */
static enum rc find_trail(struct sqlite_store *s, struct arena *arena, struct question *q,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_TRAIL);
    bool found;
    stmt_u64(&stmt, q->id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct str trail = row_text(&row);
    if (!row.bad)
        q->answer.trail = trail;
    return RC_OK;
}

/* The answer of ASK_DUE: executions, and each of their jobs once. */
struct due {
    struct arena *arena;
    VEC(struct exec_rec) execs;
    VEC(struct job_rec) jobs;
    struct map seen; /* job id -> anything */
};

static void due_free(struct due *due)
{
    map_free(&due->seen);
}

static void due_add(struct due *due, const struct stmt *stmt)
{
    static char yes;
    struct row row = stmt_row(stmt, due->arena);
    struct exec_rec exec;
    struct job_rec job;
    if (!row_exec(&row, &exec))
        return;
    if (map_get(&due->seen, exec.job_id) == NULL) {
        if (!row_job(&row, &job))
            return;
        map_put(&due->seen, job.id, &yes);
        *VEC_PUSH(due->arena, &due->jobs) = job;
    }
    *VEC_PUSH(due->arena, &due->execs) = exec;
}

static enum rc find_due(struct sqlite_store *s, struct arena *arena, struct question *q,
                        struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_DUE);
    CLEANUP(due_free) struct due due = {.arena = arena};
    bool found = true;
    stmt_i64(&stmt, q->after_ms);
    stmt_u64(&stmt, q->after_id);
    stmt_i64(&stmt, q->until_ms);
    while (found && due.execs.len < q->limit) {
        TRY(stmt_next(&stmt, &found, err));
        if (found)
            due_add(&due, &stmt);
    }
    if (found) /* the limit was reached; is there one more? */
        TRY(stmt_next(&stmt, &found, err));
    q->answer = (struct answer){
        .jobs = due.jobs.items,
        .job_count = due.jobs.len,
        .live = due.execs.items,
        .live_count = due.execs.len,
        .more = found,
    };
    return RC_OK;
}

static enum rc find_calendar_jobs(struct sqlite_store *s, struct arena *arena, struct question *q,
                                  struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_CALENDAR_JOBS);
    VEC(uint64_t) ids = {0};
    stmt_text(&stmt, q->name);
    stmt_u64(&stmt, q->limit);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        *VEC_PUSH(arena, &ids) = row_u64(&row);
    }
    q->answer.ids = ids.items;
    q->answer.id_count = ids.len;
    return RC_OK;
}

static enum rc find_counters(struct sqlite_store *s, struct arena *arena, struct question *q,
                             struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_COUNTERS);
    VEC(struct counter) counters = {0};
    stmt_text(&stmt, q->name);
    for (;;) {
        bool found;
        struct counter counter;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_counter(&row, &counter))
            *VEC_PUSH(arena, &counters) = counter;
    }
    q->answer.counters = counters.items;
    q->answer.counter_count = counters.len;
    return RC_OK;
}

static enum rc find_worker(struct sqlite_store *s, struct arena *arena, struct question *q,
                           struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_WORKER);
    bool found;
    stmt_u64(&stmt, q->id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct worker_rec *worker = ARENA_NEW(arena, struct worker_rec);
    if (row_worker(&row, worker))
        q->answer.worker = worker;
    return RC_OK;
}

static enum rc find_alert(struct sqlite_store *s, struct arena *arena, struct question *q,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_ALERT);
    bool found;
    stmt_u64(&stmt, q->id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return RC_OK;
    struct row row = stmt_row(&stmt, arena);
    struct alert_rec *alert = ARENA_NEW(arena, struct alert_rec);
    if (row_alert(&row, alert))
        q->answer.alert = alert;
    return RC_OK;
}

static enum rc find_pace(struct sqlite_store *s, struct arena *arena, struct question *q,
                         struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_PACE);
    struct sketch *pace = ARENA_NEW(arena, struct sketch);
    stmt_i64(&stmt, TALLY_JOB);
    stmt_text(&stmt, q->name);
    stmt_i64(&stmt, EXEC_COMPLETED);
    stmt_u64(&stmt, q->limit);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, NULL);
        uint32_t bucket = row_u32(&row);
        uint64_t count = row_u64(&row);
        if (!row.bad && bucket < SKETCH_BUCKETS)
            sketch_put(pace, bucket, count);
    }
    q->answer.pace = pace;
    return RC_OK;
}

static enum rc answer(struct sqlite_store *s, struct question *q, struct arena *arena,
                      struct err *err)
{
    q->answer = (struct answer){0};
    switch (q->kind) {
    case ASK_CLAIM: return take_claim(s, arena, q, err);
    case ASK_JOB: return find_job(s, q->id, arena, q, err);
    case ASK_AHEAD: return find_ahead(s, arena, q, err);
    case ASK_EXEC: return find_exec(s, arena, q, err);
    case ASK_ATTEMPT: return find_attempt(s, arena, q, err);
    case ASK_TRAIL: return find_trail(s, arena, q, err);
    case ASK_SLOT: return find_slot(s, arena, q, err);
    case ASK_DUE: return find_due(s, arena, q, err);
    case ASK_LETTERS: return sqlite_find_letters(s, arena, q, err);
    case ASK_LIVE: return sqlite_find_live_jobs(s, arena, q, err);
    case ASK_OPERATIONS: return sqlite_find_operations(s, arena, q, err);
    case ASK_OLD: return sqlite_find_old(s, arena, q, err);
    case ASK_CALENDAR: return find_calendar_jobs(s, arena, q, err);
    case ASK_WORKER: return find_worker(s, arena, q, err);
    case ASK_ALERT: return find_alert(s, arena, q, err);
    case ASK_INBOX: return sqlite_find_inbox(s, arena, q, err);
    case ASK_LEFT_MAIL: return sqlite_find_left_mail(s, arena, q, err);
    case ASK_OLD_ALERTS: return sqlite_find_old_alerts(s, arena, q, err);
    case ASK_OLD_TALLIES: return sqlite_find_old_tallies(s, arena, q, err);
    case ASK_PACE: return find_pace(s, arena, q, err);
    case ASK_QUEUE: return find_counters(s, arena, q, err);
    case ASK_MET: return find_met(s, arena, q, err);
    }
    abort(); /* a question that does not exist: our own mistake */
}

enum rc sqlite_admit(struct store *store, const struct ownership *own,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    TRY(sqlite_turn_begin(s, own, err));
    for (size_t i = 0; i < count; i++) {
        enum rc rc = answer(s, questions[i], arena, err);
        if (rc != RC_OK) {
            sqlite_turn_abort(s);
            return rc;
        }
    }
    return RC_OK;
}

enum rc sqlite_payload(struct db *db, enum sql sql, uint64_t exec_id, struct arena *arena,
                       struct str *ret_payload, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, sql);
    bool found;
    stmt_u64(&stmt, exec_id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "%s has no payload", ID_TEXT(ID_EXEC, exec_id));
    struct row row = stmt_row(&stmt, arena);
    struct str payload = row_text(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: the payload of %s is corrupt", db->path,
                       ID_TEXT(ID_EXEC, exec_id));
    *ret_payload = payload;
    return RC_OK;
}

enum rc sqlite_fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    struct sqlite_store *s = sqlite_of(store);
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FETCH);
    bool found;
    stmt_u64(&stmt, job_id);
    TRY(stmt_next(&stmt, &found, err));
    if (!found)
        return err_set(err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, job_id));
    struct row row = stmt_row(&stmt, arena);
    struct str spec = row_text(&row);
    struct str payload = row_text(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: %s is corrupt", s->db.path, ID_TEXT(ID_JOB, job_id));
    if (exec_id != 0)
        TRY(sqlite_payload(&s->db, SQL_FETCH_PAYLOAD, exec_id, arena, &payload, err));
    *ret_spec = spec;
    *ret_payload = payload;
    return RC_OK;
}
