#include "base/id.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <stdlib.h>

/* The statements that were queued for one question. */
struct asked {
    struct pg_call *exec; /* ASK_AHEAD, ASK_EXEC, ASK_SLOT */
    struct pg_call *job;
    struct pg_call *newest;
    struct pg_call *letter;
    struct pg_call *payload;
    struct inbox_asked inbox; /* ASK_INBOX, ASK_LEFT_MAIL */
    struct pg_call *other;    /* the only one that the others need */
};

static struct pg_call *use_id(struct pg *pg, enum query query, uint64_t id)
{
    struct pg_call *use = pg_call(pg, query);
    pg_u64(use, id);
    return use;
}

/* ---- queueing: everything that can be asked without knowing another answer */

static void ask_job(struct pg *pg, const struct question *q, struct asked *a)
{
    a->job = use_id(pg, Q_FIND_JOB, q->id);
    a->newest = use_id(pg, Q_FIND_NEWEST, q->id);
}

static void ask(struct postgres_store *s, const struct ownership *own, struct question *q,
                struct asked *a)
{
    struct pg *pg = &s->pg;
    q->answer = (struct answer){0};
    switch (q->kind) {
    case ASK_JOB: ask_job(pg, q, a); return;
    case ASK_AHEAD:
        a->exec = use_id(pg, Q_FIND_AHEAD, q->id);
        ask_job(pg, q, a);
        return;
    case ASK_EXEC:
        a->exec = use_id(pg, Q_FIND_EXEC, q->id);
        a->letter = use_id(pg, Q_FIND_LETTER, q->id);
        a->job = use_id(pg, Q_FIND_JOB_OF_EXEC, q->id);
        a->newest = use_id(pg, Q_FIND_NEWEST_OF_EXEC, q->id);
        a->payload = use_id(pg, Q_FETCH_PAYLOAD, q->id);
        return;
    case ASK_SLOT:
        a->exec = use_id(pg, Q_FIND_SLOT, q->id);
        pg_i64(a->exec, q->until_ms);
        ask_job(pg, q, a);
        return;
    case ASK_ATTEMPT:
        a->other = use_id(pg, Q_FIND_ATTEMPT, q->id);
        pg_u64(a->other, q->token);
        return;
    case ASK_TRAIL: a->other = use_id(pg, Q_FIND_TRAIL, q->id); return;
    case ASK_WORKER: a->other = use_id(pg, Q_FIND_WORKER, q->id); return;
    case ASK_ALERT: a->other = use_id(pg, Q_FIND_ALERT, q->id); return;
    case ASK_MET: a->other = use_id(pg, Q_FIND_MET, q->id); return;
    case ASK_CALENDAR:
        pg_text(pg_call(pg, Q_LOCK_CALENDAR), q->name);
        a->other = pg_call(pg, Q_CALENDAR_JOBS);
        pg_text(a->other, q->name);
        pg_u64(a->other, q->limit);
        return;
    case ASK_QUEUE:
        a->other = pg_call(pg, Q_FIND_COUNTERS);
        pg_text(a->other, q->name);
        return;
    case ASK_PACE:
        a->other = pg_call(pg, Q_FIND_PACE);
        pg_i64(a->other, TALLY_JOB);
        pg_text(a->other, q->name);
        pg_i64(a->other, EXEC_COMPLETED);
        pg_u64(a->other, q->limit);
        return;
    case ASK_CLAIM:
    case ASK_OLD_ALERTS:
    case ASK_OLD_TALLIES:
    case ASK_DUE:
    case ASK_LETTERS:
    case ASK_LIVE:
    case ASK_OPERATIONS:
    case ASK_OLD: return; /* together, or by pages */
    case ASK_INBOX:
    case ASK_LEFT_MAIL: a->inbox = postgres_ask_inbox(s, own, q); return;
    }
    abort(); /* a question that does not exist: our own mistake */
}

/* ---- reading */

/* Empty where there is none. */
static struct str read_payload(const struct pg_call *use, struct arena *arena)
{
    if (use == NULL || pg_rows(use) == 0)
        return STR("");
    struct row row = pg_row(use, 0, arena);
    return row_text(&row);
}

static const struct exec_rec *read_exec(const struct pg_call *use, const struct pg_call *payload,
                                        struct arena *arena)
{
    struct exec_rec *exec = ARENA_NEW(arena, struct exec_rec);
    if (pg_rows(use) == 0)
        return NULL;
    struct row row = pg_row(use, 0, arena);
    if (!row_exec(&row, exec))
        return NULL;
    exec->payload = read_payload(payload, arena);
    return exec;
}

static void read_job(const struct asked *a, struct arena *arena, struct question *q)
{
    struct job_rec *job = ARENA_NEW(arena, struct job_rec);
    if (pg_rows(a->job) == 0)
        return;
    struct row row = pg_row(a->job, 0, arena);
    if (!row_job(&row, job))
        return;
    q->answer.jobs = job;
    q->answer.job_count = 1;
    q->answer.newest = read_exec(a->newest, NULL, arena);
}

static void read_pace(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct sketch *pace = ARENA_NEW(arena, struct sketch);
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        uint32_t bucket = row_u32(&row);
        uint64_t count = row_u64(&row);
        if (!row.bad && bucket < SKETCH_BUCKETS)
            sketch_put(pace, bucket, count);
    }
    q->answer.pace = pace;
}

static void read_letter(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct letter_rec *letter = ARENA_NEW(arena, struct letter_rec);
    if (pg_rows(use) == 0)
        return;
    struct row row = pg_row(use, 0, arena);
    q->answer.letters = letter;
    q->answer.letter_count = row_letter(&row, letter);
}

static void read_attempt(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct attempt_rec *attempt = ARENA_NEW(arena, struct attempt_rec);
    if (pg_rows(use) == 0)
        return;
    struct row row = pg_row(use, 0, arena);
    if (row_attempt(&row, attempt))
        q->answer.attempt = attempt;
}

/* One that cannot be read is left out: it only explains. */
static void read_trail(const struct pg_call *use, struct arena *arena, struct question *q)
{
    if (pg_rows(use) == 0)
        return;
    struct row row = pg_row(use, 0, arena);
    struct str trail = row_text(&row);
    if (!row.bad)
        q->answer.trail = trail;
}

static void read_worker(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct worker_rec *worker = ARENA_NEW(arena, struct worker_rec);
    if (pg_rows(use) == 0)
        return;
    struct row row = pg_row(use, 0, arena);
    if (row_worker(&row, worker))
        q->answer.worker = worker;
}

static void read_alert(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct alert_rec *alert = ARENA_NEW(arena, struct alert_rec);
    if (pg_rows(use) == 0)
        return;
    struct row row = pg_row(use, 0, arena);
    if (row_alert(&row, alert))
        q->answer.alert = alert;
}

static void read_ids(const struct pg_call *use, struct arena *arena, struct question *q)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, pg_rows(use));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        ids[i] = row_u64(&row);
    }
    q->answer.ids = ids;
    q->answer.id_count = pg_rows(use);
}

static void read_counters(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct counter *counters = ARENA_ARRAY(arena, struct counter, pg_rows(use));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        q->answer.counter_count += row_counter(&row, &counters[q->answer.counter_count]);
    }
    q->answer.counters = counters;
}

static void read_met(const struct pg_call *use, struct arena *arena, struct question *q)
{
    struct dependency_rec *met = ARENA_ARRAY(arena, struct dependency_rec, pg_rows(use));
    struct job_rec *jobs = ARENA_ARRAY(arena, struct job_rec, pg_rows(use));
    size_t count = 0;
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        count += row_dependency(&row, &met[count]) && row_job(&row, &jobs[count]);
    }
    q->answer = (struct answer){.jobs = jobs, .job_count = count, .met = met};
}

static void read_answer(struct postgres_store *s, const struct asked *a, struct arena *arena,
                        struct question *q)
{
    switch (q->kind) {
    case ASK_JOB: read_job(a, arena, q); return;
    case ASK_EXEC:
        q->answer.exec = read_exec(a->exec, a->payload, arena);
        if (q->answer.exec == NULL)
            return;
        if (q->answer.exec->state == EXEC_FAILED || q->answer.exec->state == EXEC_TIMEOUT)
            read_letter(a->letter, arena, q);
        read_job(a, arena, q);
        return;
    case ASK_AHEAD:
    case ASK_SLOT: /* without such an execution the answer is about the job alone */
        q->answer.exec = read_exec(a->exec, NULL, arena);
        read_job(a, arena, q);
        return;
    case ASK_ATTEMPT: read_attempt(a->other, arena, q); return;
    case ASK_TRAIL: read_trail(a->other, arena, q); return;
    case ASK_WORKER: read_worker(a->other, arena, q); return;
    case ASK_ALERT: read_alert(a->other, arena, q); return;
    case ASK_CALENDAR: read_ids(a->other, arena, q); return;
    case ASK_PACE: read_pace(a->other, arena, q); return;
    case ASK_QUEUE: read_counters(a->other, arena, q); return;
    case ASK_MET: read_met(a->other, arena, q); return;
    case ASK_INBOX:
    case ASK_LEFT_MAIL: postgres_read_inbox(s, &a->inbox, arena, q); return;
    default: return;
    }
}

/* ---- what is due: a page, and more pages where rows made no sense */

struct due {
    struct arena *arena;
    VEC(struct exec_rec) execs;
    VEC(struct job_rec) jobs; /* each of them once */
    struct map seen;          /* job id -> anything */
};

static void due_free(struct due *due)
{
    map_free(&due->seen);
}

static void due_add(struct due *due, struct row row, struct exec_rec *ret_exec)
{
    static char yes;
    struct job_rec job;
    if (!row_exec(&row, ret_exec))
        return;
    if (map_get(&due->seen, ret_exec->job_id) == NULL) {
        if (!row_job(&row, &job))
            return;
        map_put(&due->seen, job.id, &yes);
        *VEC_PUSH(due->arena, &due->jobs) = job;
    }
    *VEC_PUSH(due->arena, &due->execs) = *ret_exec;
}

static enum rc find_due(struct postgres_store *s, const struct ownership *own, struct arena *arena,
                        struct question *q, struct err *err)
{
    CLEANUP(due_free) struct due due = {.arena = arena};
    int64_t after_ms = q->after_ms;
    uint64_t after_id = q->after_id;
    bool more = true;
    bool full = false;
    while (more && !full) {
        PG_CLEAR(&s->pg);
        struct pg_call *use = pg_call(&s->pg, Q_DUE);
        size_t limit = q->limit - due.execs.len + 1; /* is there one more? */
        pg_i64(use, after_ms);
        pg_u64(use, after_id);
        pg_i64(use, q->until_ms);
        postgres_bind_set(use, own);
        pg_u64(use, limit);
        TRY(pg_run(&s->pg, err));
        more = pg_rows(use) == limit;
        for (size_t i = 0; i < pg_rows(use) && !full; i++) {
            struct exec_rec exec = {0};
            full = due.execs.len == q->limit;
            if (full)
                break;
            due_add(&due, pg_row(use, i, arena), &exec);
            after_ms = exec.due_ms;
            after_id = exec.id;
        }
        more = more && after_id != 0; /* a row without an id: no way to step over it */
    }
    q->answer = (struct answer){
        .jobs = due.jobs.items,
        .job_count = due.jobs.len,
        .live = due.execs.items,
        .live_count = due.execs.len,
        .more = full,
    };
    return RC_OK;
}

static enum rc answer_by_pages(struct postgres_store *s, const struct ownership *own,
                               struct arena *arena, struct question *q, struct err *err)
{
    switch (q->kind) {
    case ASK_DUE: return find_due(s, own, arena, q, err);
    case ASK_LETTERS: return postgres_find_letters(s, own, arena, q, err);
    case ASK_LIVE: return postgres_find_live_jobs(s, own, arena, q, err);
    case ASK_OPERATIONS: return postgres_find_operations(s, arena, q, err);
    case ASK_OLD: return postgres_find_old(s, own, arena, q, err);
    case ASK_OLD_ALERTS: return postgres_find_old_alerts(s, own, arena, q, err);
    case ASK_OLD_TALLIES: return postgres_find_old_tallies(s, own, arena, q, err);
    default: return RC_OK;
    }
}

/* ---- a round of questions */

/* The questions of one round trip. */
struct round_trip {
    struct pg_call *fence; /* see postgres_turn_begin */
    struct asked *asked;
    struct claims_asked claims;
};

static enum rc run_questions(struct postgres_store *s, const struct ownership *own,
                             struct question *const *questions, size_t count, bool hopeful,
                             struct arena *arena, struct round_trip *ret_trip, struct err *err)
{
    ret_trip->asked = ARENA_ARRAY(arena, struct asked, count);
    TRY(postgres_turn_begin(s, own, &ret_trip->fence, err));
    for (size_t i = 0; i < count; i++)
        ask(s, own, questions[i], &ret_trip->asked[i]);
    postgres_ask_claims(s, questions, count, hopeful, arena, &ret_trip->claims);
    return pg_run(&s->pg, err);
}

enum { WARY_ROUNDS = 100 }; /* a client that repeats requests does so for a while */

/* One round trip for the beginning of the turn and all that is asked by key; what is asked by
 * pages, and claims whose holder's time was over, take more. */
static enum rc admit(struct postgres_store *s, const struct ownership *own,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    struct round_trip trip;
    bool begins = !s->in_turn; /* else hoping would put at stake what the turn has taken */
    bool hopeful = begins && s->wary == 0;
    enum rc rc = run_questions(s, own, questions, count, hopeful, arena, &trip, err);
    if (s->wary > 0)
        s->wary--;
    if (rc == RC_CONFLICT && hopeful) {
        s->wary = WARY_ROUNDS;
        postgres_turn_abort(s);
        rc = run_questions(s, own, questions, count, false, arena, &trip, err);
    }
    TRY(rc);
    TRY(postgres_turn_check(s, own, trip.fence, err));
    for (size_t i = 0; i < count; i++)
        read_answer(s, &trip.asked[i], arena, questions[i]);
    postgres_read_claims(s, &trip.claims);
    pg_clear(&s->pg);
    TRY(postgres_end_claims(s, &trip.claims, arena, err));
    for (size_t i = 0; i < count; i++)
        TRY(answer_by_pages(s, own, arena, questions[i], err));
    return RC_OK;
}

enum rc postgres_admit(struct store *store, const struct ownership *own,
                       struct question *const *questions, size_t count, struct arena *arena,
                       struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    enum rc rc = admit(s, own, questions, count, arena, err);
    if (rc != RC_OK)
        postgres_turn_abort(s);
    return rc;
}

enum rc postgres_fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                       struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    PG_CLEAR(&s->pg);
    struct pg_call *use = use_id(&s->pg, Q_FETCH, job_id);
    struct pg_call *own = exec_id == 0 ? NULL : use_id(&s->pg, Q_FETCH_PAYLOAD, exec_id);
    TRY(pg_run(&s->pg, err));
    if (pg_rows(use) == 0)
        return err_set(err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, job_id));
    struct row row = pg_row(use, 0, arena);
    struct str spec = row_text(&row);
    struct str payload = row_text(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: %s is corrupt", s->place.label,
                       ID_TEXT(ID_JOB, job_id));
    if (own != NULL && pg_rows(own) == 0)
        return err_set(err, RC_NOT_FOUND, "%s has no payload", ID_TEXT(ID_EXEC, exec_id));
    *ret_spec = spec;
    *ret_payload = own == NULL ? payload : read_payload(own, arena);
    return RC_OK;
}
