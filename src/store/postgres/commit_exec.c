/* commit_exec.c - executions and attempts of a delta: rows by kind of change, each kind in one
 * statement. */
#include "job/record/record_fields.h"
#include "store/postgres/grouped_rows.h"
#include "store/postgres/narrow_row.h"
#include "store/postgres/postgres.h"
#include "store/usage_text.h"

/* The fields of these groups, as pg_record binds them, in straight-line code; with a step in place
 * of the trail. */
#define BIND(exec, member, column, group, ...) BIND_OF(exec->member, FIELD_##group, __VA_ARGS__)
#define BIND_OF(member, in, kind, min, max, usual)                                                 \
    if (((in)&groups) == 0)                                                                        \
        ;                                                                                          \
    else if (((in)&NULLED) != 0 && FIELD_IS_USUAL(kind)(member, usual))                            \
        pg_null(use);                                                                              \
    else                                                                                           \
        BIND_##kind(member, in);
#define BIND_FIELD_U64(member, in) pg_u64(use, member)
#define BIND_FIELD_I64(member, in) pg_i64(use, member)
#define BIND_FIELD_U32(member, in) pg_i64(use, member)
#define BIND_FIELD_I32(member, in) pg_i64(use, member)
#define BIND_FIELD_ENUM(member, in) pg_i64(use, member)
#define BIND_FIELD_BOOL(member, in) pg_bool(use, member)
#define BIND_FIELD_TEXT(member, in) pg_text(use, ((in)&FIELD_TRAIL) != 0 ? step : member)

static void bind_exec(struct pg_call *use, const struct exec_rec *exec, struct str step,
                      unsigned groups)
{
    enum { NULLED = FIELD_NULLED | FIELD_NULLED_PG };
    EXEC_FIELDS(BIND, exec)
}

/* Whole rows; behind one that has ended its job's end and its last attempt's. */
enum { NEW = FIELD_LIVE | FIELD_TRAIL, ENDED = NEW | FIELD_END | FIELD_BULK };

#define JOB_END "it"
#define ATTEMPT_END "iiiiittiit"

static void bind_nulls(struct pg_call *use, int count)
{
    while (count-- > 0)
        pg_null(use);
}

static void bind_job_end(struct pg_call *use, const struct job_change *job)
{
    if (job == NULL) {
        bind_nulls(use, 2);
        return;
    }
    pg_i64(use, job->job.state);
    pg_text(use, job->step);
}

static void bind_attempt_end(struct pg_call *use, const struct attempt_rec *attempt,
                             struct str exec_error)
{
    char usage[USAGE_TEXT_MAX];
    if (attempt == NULL) {
        bind_nulls(use, 10);
        return;
    }
    pg_i64(use, attempt->outcome);
    pg_i64(use, attempt->number);
    pg_u64(use, attempt->worker_id);
    pg_i64(use, attempt->started_ms);
    pg_i64(use, attempt->ended_ms);
    pg_text_or_null(use, usage_print(&attempt->usage, usage));
    if (str_eq(attempt->error, exec_error))
        pg_null(use);
    else
        pg_text(use, attempt->error);
    if (attempt->class == FAILURE_NONE) {
        bind_nulls(use, 2);
    } else {
        pg_i64(use, attempt->class);
        pg_u64(use, attempt->fingerprint);
    }
    pg_text_or_null(use, attempt->tail);
}

/* ---- plain ones */

static void insert_plain(struct pg_call *use, const struct exec_change *change)
{
    const struct exec_rec *exec = &change->exec;
    pg_u64(use, exec->id);
    pg_u64(use, exec->job_id);
    pg_i64(use, exec->slot_ms);
    pg_i64(use, exec->created_ms);
    pg_i64(use, exec->due_ms);
    pg_i64(use, exec->ready_ms);
    pg_i64(use, exec->started_ms);
    pg_u64(use, exec->token);
    pg_u64(use, exec->worker_id);
    pg_i64_or_null(use, exec->attempts);
    pg_i64(use, exec->priority);
    pg_i64(use, exec->state);
    pg_text(use, exec->queue);
    pg_text(use, change->step);
}

static void update_plain(struct pg_call *use, const struct exec_change *change)
{
    const struct exec_rec *exec = &change->exec;
    pg_u64(use, exec->id);
    pg_i64(use, exec->due_ms);
    pg_i64(use, exec->ready_ms);
    pg_i64(use, exec->started_ms);
    pg_u64(use, exec->token);
    pg_u64(use, exec->worker_id);
    pg_i64_or_null(use, exec->attempts);
    pg_i64(use, exec->state);
    pg_text(use, change->step);
}

static void finish_plain(struct pg_call *use, const struct exec_change *change, struct str trail)
{
    const struct exec_rec *exec = &change->exec;
    const struct attempt_rec *attempt = change->ends_attempt;
    pg_u64(use, exec->id);
    pg_u64(use, exec->job_id);
    pg_i64(use, exec->slot_ms);
    pg_i64(use, exec->created_ms);
    pg_i64(use, exec->ready_ms);
    pg_i64(use, exec->started_ms);
    pg_u64(use, exec->token);
    pg_u64(use, exec->worker_id);
    pg_i64(use, exec->finished_ms);
    pg_i64_or_null(use, exec->attempts);
    pg_u64(use, attempt->worker_id);
    pg_i64(use, attempt->started_ms);
    pg_i64(use, attempt->ended_ms);
    pg_i64(use, attempt->number);
    pg_i64(use, exec->priority);
    pg_i64(use, attempt->outcome);
    pg_i64(use, change->ends_job->job.state);
    pg_i64(use, exec->state);
    pg_text(use, exec->queue);
    pg_text(use, trail);
    pg_text(use, change->ends_job->step);
}

#define PLAIN_LIVE "iiiiiiiiiiiitt"
#define PLAIN_CHANGE "iiiiiiiit"
#define PLAIN_END "iiiiiiiiiiiiiiiiiittt"

/* ---- by kind */

/* step: to be appended; where the row's trail is known, all of it. */
static void finish_exec(struct pg_call *use, const struct exec_change *change, struct str step)
{
    bind_exec(use, &change->exec, step, ENDED);
    bind_job_end(use, change->ends_job);
    bind_attempt_end(use, change->ends_attempt, change->exec.error);
}

static void charge_exec(struct pg_call *use, const struct exec_change *change)
{
    pg_u64(use, change->exec.id);
    pg_text(use, change->exec.charged);
}

/* Which statement takes which changes. `counted`: its first parameter is how many rows it must
 * meet. */
static const struct kind {
    enum change_kind kind;
    enum only { ANY, PLAIN, SPECIAL, MOVED, UNSEEN, CHARGED } only;
    enum query query;
    bool counted;
    enum pg_type type; /* PG_TYPES: comes as columns */
    unsigned groups;   /* of fields; 0: not by their list, but by these: */
    const char *types;
    void (*bind)(struct pg_call *use, const struct exec_change *change);
} kinds[] = {
    {CHANGE_INSERT, PLAIN, Q_INSERT_PLAIN_LIVE, false, PG_PLAIN_LIVE, 0, PLAIN_LIVE, insert_plain},
    {CHANGE_INSERT, SPECIAL, Q_INSERT_LIVE, false, PG_BORN_LIVE, NEW, NULL, NULL},
    {CHANGE_UPDATE, PLAIN, Q_UPDATE_PLAIN_LIVE, true, PG_PLAIN_CHANGE, 0, PLAIN_CHANGE,
     update_plain},
    {CHANGE_UPDATE, SPECIAL, Q_UPDATE_LIVE, true, PG_CHANGED_LIVE,
     FIELD_KEY | FIELD_PROGRESS | FIELD_ERROR | FIELD_TRAIL, NULL, NULL},
    {CHANGE_INSERT, UNSEEN, Q_MARK_UNSEEN, true, PG_TYPES, FIELD_KEY | FIELD_MARK, NULL, NULL},
    {CHANGE_UPDATE, UNSEEN, Q_MARK_UNSEEN, true, PG_TYPES, FIELD_KEY | FIELD_MARK, NULL, NULL},
    {CHANGE_UPDATE, CHARGED, Q_CHARGE_LIVE, true, PG_TYPES, 0, "it", charge_exec},
    {CHANGE_UPDATE, MOVED, Q_MOVE_LIVE, true, PG_TYPES, FIELD_KEY | FIELD_MOVED, NULL, NULL},
    {CHANGE_RECORD, ANY, Q_INSERT_HISTORY, false, PG_TYPES, ENDED, NULL, NULL},
};

static const char *types_of(struct pg *pg, const struct kind *kind)
{
    return kind->groups == 0 ? kind->types : pg_types(pg, "", &exec_fields, kind->groups, "");
}

static void bind_change(struct pg_call *use, const struct kind *kind,
                        const struct exec_change *change)
{
    if (kind->groups == 0)
        kind->bind(use, change);
    else
        bind_exec(use, &change->exec, change->step, kind->groups);
}

static bool is_of(const struct kind *kind, const struct exec_change *change)
{
    if (change->kind != kind->kind)
        return false;
    switch (kind->only) {
    case ANY: return true;
    case PLAIN: return plain_exec(&change->exec);
    case SPECIAL: return !plain_exec(&change->exec);
    case MOVED: return change->moved;
    case UNSEEN: return change->exec.unseen > 0;
    case CHARGED: return change->exec.recharged;
    }
    return false;
}

/* told: see grouped_rows.h; what moves is told beside that. */
static bool is_due(const struct kind *kind, const struct delta *delta, size_t i, const bool *told)
{
    return is_of(kind, &delta->execs[i]) && (told == NULL || !told[i] || kind->only == MOVED);
}

static void keep_kind(struct pg *pg, const struct kind *kind, const struct delta *delta,
                      const bool *told)
{
    size_t count = 0;
    for (size_t i = 0; i < delta->exec_count; i++)
        count += is_due(kind, delta, i, told);
    if (count == 0)
        return;
    struct pg_call *use = pg_call(pg, kind->query);
    if (kind->counted)
        pg_u64(use, count);
    if (kind->type == PG_TYPES)
        pg_columns(use, types_of(pg, kind), count);
    else
        pg_records(use, kind->type, types_of(pg, kind), count);
    for (size_t i = 0; i < delta->exec_count; i++) {
        if (is_due(kind, delta, i, told))
            bind_change(use, kind, &delta->execs[i]);
    }
}

/* ---- ends: those whose trail we know go into history as they are, and the others by a statement
 * that fetches it, which costs PostgreSQL half as much again. */

enum end { END_NONE, END_UNKNOWN, END_ALIKE, END_PLAIN, END_SPECIAL, ENDS };

/* The trails of what ends; ptr is NULL for all else, and where it is not known. */
static const struct str *known_trails(struct pg *pg, const struct trails *trails,
                                      const struct delta *delta)
{
    struct str *known = ARENA_ARRAY(&pg->arena, struct str, delta->exec_count);
    for (size_t i = 0; i < delta->exec_count; i++) {
        if (delta->execs[i].kind == CHANGE_FINISH)
            known[i] = trails_get(trails, delta->execs[i].exec.id);
    }
    return known;
}

static const char *ended_types(struct pg *pg)
{
    return pg_types(pg, "", &exec_fields, ENDED, JOB_END ATTEMPT_END);
}

static void finish_unknown(struct pg *pg, const struct delta *delta, const struct str *trails,
                           size_t count)
{
    struct pg_call *use = pg_call(pg, Q_FINISH_LIVE);
    pg_u64(use, count);
    pg_records(use, PG_ENDED_LIVE, ended_types(pg), count);
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct exec_change *change = &delta->execs[i];
        if (change->kind == CHANGE_FINISH && trails[i].ptr == NULL)
            finish_exec(use, change, change->step);
    }
}

static void delete_known(struct pg *pg, const struct delta *delta, const struct str *trails,
                         size_t count)
{
    struct pg_call *use = pg_call(pg, Q_DELETE_LIVE);
    pg_u64(use, count);
    pg_columns(use, "i", count);
    for (size_t i = 0; i < delta->exec_count; i++) {
        if (trails[i].ptr != NULL)
            pg_u64(use, delta->execs[i].exec.id);
    }
}

/* An execution whose trail is known enters history by one statement if it is plain, and by another
 * if it is not. */
static void finish_known(struct pg *pg, const struct delta *delta, const struct str *trails,
                         const enum end *ends, size_t plain, size_t special)
{
    struct pg_call *plainly = plain == 0 ? NULL : pg_call(pg, Q_FINISH_PLAIN);
    struct pg_call *specially = special == 0 ? NULL : pg_call(pg, Q_FINISH_KNOWN);
    if (plainly != NULL)
        pg_records(plainly, PG_PLAIN_END, PLAIN_END, plain);
    if (specially != NULL)
        pg_records(specially, PG_ENDED_LIVE, ended_types(pg), special);
    for (size_t i = 0; i < delta->exec_count; i++) {
        const struct exec_change *change = &delta->execs[i];
        if (ends[i] == END_PLAIN)
            finish_plain(plainly, change, pg_joined(plainly, trails[i], change->step));
        if (ends[i] == END_SPECIAL)
            finish_exec(specially, change, pg_joined(specially, trails[i], change->step));
    }
}

static enum end end_of(const struct exec_change *change, struct str trail, bool told)
{
    if (change->kind != CHANGE_FINISH)
        return END_NONE;
    if (trail.ptr == NULL)
        return END_UNKNOWN;
    if (told)
        return END_ALIKE;
    return plain_end(change) ? END_PLAIN : END_SPECIAL;
}

static void keep_finished(struct pg *pg, const struct delta *delta, const struct str *trails,
                          const bool *told)
{
    enum end *ends = ARENA_ARRAY(&pg->arena, enum end, delta->exec_count);
    size_t count[ENDS] = {0};
    for (size_t i = 0; i < delta->exec_count; i++) {
        ends[i] = end_of(&delta->execs[i], trails[i], told != NULL && told[i]);
        count[ends[i]]++;
    }
    size_t known = count[END_ALIKE] + count[END_PLAIN] + count[END_SPECIAL];
    if (known > 0)
        delete_known(pg, delta, trails, known);
    finish_known(pg, delta, trails, ends, count[END_PLAIN], count[END_SPECIAL]);
    if (count[END_UNKNOWN] > 0)
        finish_unknown(pg, delta, trails, count[END_UNKNOWN]);
}

/* ---- attempts that did not end with their execution */

static void keep_attempts(struct pg *pg, const struct delta *delta)
{
    size_t count = 0;
    for (size_t i = 0; i < delta->attempt_count; i++)
        count += !delta->attempts[i].with_exec;
    if (count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_PUT_ATTEMPTS);
    pg_columns(use, pg_types(pg, "", &attempt_fields, FIELD_ANY, ""), count);
    for (size_t i = 0; i < delta->attempt_count; i++) {
        if (!delta->attempts[i].with_exec)
            pg_record(use, &attempt_fields, FIELD_ANY, &delta->attempts[i]);
    }
}

/* ---- payloads of their own */

static void keep_payloads(struct pg *pg, const struct delta *delta)
{
    size_t count = 0;
    for (size_t i = 0; i < delta->exec_count; i++)
        count += delta->execs[i].exec.payload.len > 0;
    if (count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_INSERT_PAYLOADS);
    pg_columns(use, "it", count);
    for (size_t i = 0; i < delta->exec_count; i++) {
        if (delta->execs[i].exec.payload.len == 0)
            continue;
        pg_u64(use, delta->execs[i].exec.id);
        pg_text(use, delta->execs[i].exec.payload);
    }
}

/* Many: PostgreSQL has work for longer than we need to make the rest. */
enum { MANY = 100 };

void postgres_keep_execs(struct pg *pg, const struct trails *trails, const struct delta *delta)
{
    bool many = delta->exec_count + delta->job_count >= MANY;
    if (many)
        pg_push(pg);
    const struct str *known = known_trails(pg, trails, delta);
    const bool *told = alike_keep_execs(pg, delta, known);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (many)
            pg_push(pg);
        keep_kind(pg, &kinds[i], delta, told);
    }
    keep_finished(pg, delta, known, told);
    keep_attempts(pg, delta);
    keep_payloads(pg, delta);
}
