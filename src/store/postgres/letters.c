/* letters.c - dead letters, operations on many of them, and the end of what is too old: the writing
 * side. Readers' part is in read_letters.c. */
#include "store/sql/letters.h"
#include "base/vec.h"
#include "job/record/record_fields.h"
#include "store/postgres/postgres.h"
#include "store/sql/operations.h"

/* ---- keeping */

static void keep_letters(struct pg *pg, const struct delta *delta)
{
    if (delta->letter_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_PUT_LETTERS);
    pg_columns(use, "iiiittiiittii", delta->letter_count);
    for (size_t i = 0; i < delta->letter_count; i++) {
        const struct letter_rec *letter = &delta->letters[i];
        pg_i64(use, letter->place.died_ms);
        pg_u64(use, letter->place.exec_id);
        pg_u64(use, letter->job_id);
        pg_i64(use, letter->state);
        pg_text(use, letter->queue);
        pg_text(use, letter->name);
        pg_i64(use, letter->reason);
        pg_i64(use, letter->class);
        pg_u64(use, letter->fingerprint);
        pg_text(use, letter->line);
        pg_text(use, letter->error);
        pg_i64(use, letter->attempts);
        pg_i64(use, letter->lost);
    }
}

static void keep_letters_gone(struct pg *pg, const struct delta *delta)
{
    if (delta->letter_gone_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_REMOVE_LETTERS);
    pg_columns(use, "ii", delta->letter_gone_count);
    for (size_t i = 0; i < delta->letter_gone_count; i++) {
        pg_i64(use, delta->letters_gone[i].died_ms);
        pg_u64(use, delta->letters_gone[i].exec_id);
    }
}

static void keep_operation(struct pg *pg, const struct operation_change *change)
{
    struct pg_call *use = pg_call(pg, change->progress ? Q_MOVE_OPERATION : Q_PUT_OPERATION);
    if (change->progress) {
        pg_record(use, &operation_fields, FIELD_PROGRESS | FIELD_TRAIL, &change->operation);
        pg_record(use, &operation_fields, FIELD_KEY, &change->operation);
    } else {
        pg_record(use, &operation_fields, FIELD_ANY, &change->operation);
    }
}

static void keep_operations(struct pg *pg, const struct delta *delta)
{
    for (size_t i = 0; i < delta->operation_count; i++)
        keep_operation(pg, &delta->operations[i]);
}

#define KEEP(one, many, type, alone) keep_##many(pg, delta);

void postgres_keep_letters(struct pg *pg, const struct delta *delta)
{
    DELTA_LETTERS(KEEP)
}

static void keep_alerts_gone(struct pg *pg, const struct delta *delta)
{
    if (delta->alert_gone_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_FORGET_ALERTS);
    pg_columns(use, "i", delta->alert_gone_count);
    for (size_t i = 0; i < delta->alert_gone_count; i++)
        pg_u64(use, delta->alerts_gone[i]);
}

static void keep_operations_gone(struct pg *pg, const struct delta *delta)
{
    if (delta->operation_gone_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_FORGET_OPERATIONS);
    pg_columns(use, "i", delta->operation_gone_count);
    for (size_t i = 0; i < delta->operation_gone_count; i++)
        pg_u64(use, delta->operations_gone[i]);
}

static void forget_tallies(struct pg *pg, enum query query, const struct delta *delta)
{
    struct pg_call *use = pg_call(pg, query);
    pg_columns(use, "itiii", delta->tally_gone_count);
    for (size_t i = 0; i < delta->tally_gone_count; i++) {
        const struct tally *row = &delta->tallies_gone[i];
        pg_i64(use, row->scope);
        pg_text(use, row->key);
        pg_i64(use, row->hour);
        pg_i64(use, row->end);
        pg_i64(use, row->bucket);
    }
}

static void mark_forgotten(struct pg *pg, const struct past *past)
{
    struct pg_call *use = pg_call(pg, Q_MARK_FORGOTTEN);
    pg_i64(use, (int64_t)past->of.bits);
    pg_u64(use, past->after_id);
    pg_u64(use, past->to_id);
    pg_columns(use, "i", past->stay_count);
    for (size_t i = 0; i < past->stay_count; i++)
        pg_u64(use, past->stays[i]);
}

static void keep_tallies_gone(struct pg *pg, const struct delta *delta)
{
    if (delta->tally_gone_count == 0)
        return;
    forget_tallies(pg, Q_FORGET_TALLIES, delta);
    forget_tallies(pg, Q_FORGET_DAYS, delta);
}

/* Their numbers are moved in commit.c, which knows since when there are any. */
static void keep_queues_gone(struct pg *pg, const struct delta *delta)
{
    for (size_t i = 0; i < delta->queue_gone_count; i++) {
        if (delta->queues_gone[i].settings)
            pg_text(pg_call(pg, Q_FORGET_QUEUE), delta->queues_gone[i].name);
    }
}

/* Jobs first, while the executions that tell about them are still there. */
static void keep_forgotten(struct pg *pg, const struct delta *delta)
{
    static const enum query steps[] = {Q_FORGET_JOBS,       Q_FOLD_JOBS,       Q_FORGET_ATTEMPTS,
                                       Q_FORGET_SLA_EVENTS, Q_FORGET_PAYLOADS, Q_FORGET_EXECS};
    for (size_t step = 0; delta->forgotten_count > 0 && step < COUNT_OF(steps); step++) {
        struct pg_call *use = pg_call(pg, steps[step]);
        pg_columns(use, "i", delta->forgotten_count);
        for (size_t i = 0; i < delta->forgotten_count; i++)
            pg_u64(use, delta->forgotten[i]);
    }
}

void postgres_forget(struct pg *pg, const struct delta *delta)
{
    DELTA_GONE(KEEP)
    if (delta->past.to_id != 0)
        mark_forgotten(pg, &delta->past);
}

/* ---- asking */

void postgres_bind_asked(struct pg_call *use, const struct ownership *own, const struct question *q)
{
    uint64_t bits = ownership_set(own).bits;
    pg_i64(use, own->partitions);
    pg_i64(use, (int64_t)(q->partitions == 0 ? bits : bits & q->partitions));
}

/* Reads on behind the place. *ret_end: there is no more to look at, or enough was found. */
static enum rc look_at_live(struct postgres_store *s, const struct ownership *own,
                            struct arena *arena, struct question *q, struct live_found *live,
                            size_t max, bool *ret_end, struct err *err)
{
    PG_CLEAR(&s->pg);
    struct pg_call *use = pg_call(&s->pg, Q_FIND_LIVE_JOBS);
    pg_u64(use, q->answer.place.exec_id);
    postgres_bind_asked(use, own, q);
    pg_u64(use, max);
    pg_bool(use, operation_needs_document(q->operation));
    TRY(pg_run(&s->pg, err));
    *ret_end = pg_rows(use) < max;
    for (size_t i = 0; i < pg_rows(use); i++) {
        if (!live_add(live, q, pg_row(use, i, arena), arena)) {
            *ret_end = true;
            break;
        }
    }
    return RC_OK;
}

/* As many as are wanted come first: where all of them fit, nothing is read in vain. */
enum rc postgres_find_live_jobs(struct postgres_store *s, const struct ownership *own,
                                struct arena *arena, struct question *q, struct err *err)
{
    struct live_found live = {0};
    size_t scan_max = question_scan_max(q, LIVE_SCAN_MAX);
    size_t wanted = q->limit < scan_max ? q->limit : scan_max;
    bool end;
    q->answer.place.exec_id = q->after_id;
    TRY(look_at_live(s, own, arena, q, &live, wanted + 1, &end, err));
    if (!end)
        TRY(look_at_live(s, own, arena, q, &live, scan_max - live.looked + 1, &end, err));
    live_answer(&live, q);
    return RC_OK;
}

enum rc postgres_find_operations(struct postgres_store *s, struct arena *arena, struct question *q,
                                 struct err *err)
{
    PG_CLEAR(&s->pg);
    VEC(struct operation_brief) operations = {0};
    struct pg_call *use = pg_call(&s->pg, Q_FIND_OPERATIONS);
    TRY(pg_run(&s->pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, NULL);
        struct operation_brief *brief = VEC_PUSH(arena, &operations);
        brief->id = row_u64(&row);
        brief->over = row_bool(&row);
    }
    q->answer.operations = operations.items;
    q->answer.operation_count = operations.len;
    return RC_OK;
}

enum rc postgres_find_letters(struct postgres_store *s, const struct ownership *own,
                              struct arena *arena, struct question *q, struct err *err)
{
    PG_CLEAR(&s->pg);
    struct letters_found letters = {0};
    struct pg_call *use = pg_call(&s->pg, Q_FIND_LETTERS);
    pg_i64(use, q->place.died_ms);
    pg_u64(use, q->place.exec_id);
    pg_i64(use, q->until_ms);
    postgres_bind_asked(use, own, q);
    pg_u64(use, question_scan_max(q, LETTERS_SCAN_MAX) + 1);
    TRY(pg_run(&s->pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        if (!letters_add(&letters, q, pg_row(use, i, NULL), arena))
            break;
    }
    letters_answer(&letters, q);
    return RC_OK;
}

/* Weeks are of no partition: see postgres_find_old_tallies. They are looked at when a pass
 * begins. */
static void find_old_weeks(struct postgres_store *s, const struct ownership *own,
                           const struct question *q)
{
    if (own->epochs[0] == 0 || q->after_id != 0 || q->spare_ms == 0)
        return;
    struct pg_call *use = pg_call(&s->pg, Q_FIND_OLD_WEEKS);
    pg_i64(use, q->until_ms);
    pg_i64(use, s->drift_ms);
}

/* Ids that an answer is about, and whether somebody wants to know. */
struct old_ids {
    uint64_t after;
    uint64_t to;
    bool told;
};

static enum rc find_old_ids(struct postgres_store *s, const struct ownership *own,
                            const struct question *q, struct old_ids *ret_ids, struct err *err)
{
    PG_CLEAR(&s->pg);
    find_old_weeks(s, own, q);
    struct pg_call *use = pg_call(&s->pg, Q_OLD_IDS);
    pg_i64(use, q->until_ms);
    pg_i64(use, s->drift_ms);
    pg_i64(use, q->spare_ms);
    pg_i64(use, (int64_t)ownership_set(own).bits);
    TRY(pg_run(&s->pg, err));
    struct row row = pg_row(use, 0, NULL);
    uint64_t after = row_u64(&row);
    int64_t to = row_i64(&row); /* -1: there is nothing */
    ret_ids->after = q->after_id > after ? q->after_id : after;
    ret_ids->to = to < 0 ? 0 : (uint64_t)to;
    ret_ids->told = row_bool(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: belfry.old_week is corrupt", pg_label(use));
    return RC_OK;
}

enum rc postgres_find_old(struct postgres_store *s, const struct ownership *own,
                          struct arena *arena, struct question *q, struct err *err)
{
    struct old_ids ids;
    TRY(find_old_ids(s, own, q, &ids, err));
    PG_CLEAR(&s->pg);
    VEC(struct old_exec) old = {0};
    struct pg_call *use = pg_call(&s->pg, Q_FIND_OLD);
    pg_u64(use, ids.after);
    pg_u64(use, ids.to);
    pg_i64(use, q->until_ms);
    postgres_bind_set(use, own);
    pg_u64(use, q->limit + 1);
    TRY(pg_run(&s->pg, err));
    for (size_t i = 0; i < pg_rows(use) && i < q->limit; i++) {
        struct row row = pg_row(use, i, arena);
        struct old_exec exec = {.id = row_u64(&row)};
        exec.finished_ms = row_i64(&row);
        exec.is_letter = row_bool(&row);
        exec.is_named = row_bool(&row) || row.bad; /* a corrupt row is not deleted */
        *VEC_PUSH(arena, &old) = exec;
    }
    q->answer.old = old.items;
    q->answer.old_count = old.len;
    q->answer.more = pg_rows(use) > q->limit;
    q->answer.after_id = ids.after;
    q->answer.to_id = !ids.told ? 0 : q->answer.more ? old.items[old.len - 1].id : ids.to;
    return RC_OK;
}

/* A row that makes no sense waits for its delivery, as far as anybody knows: it is not deleted. */
enum rc postgres_find_old_alerts(struct postgres_store *s, const struct ownership *own,
                                 struct arena *arena, struct question *q, struct err *err)
{
    PG_CLEAR(&s->pg);
    VEC(struct old_alert) old = {0};
    struct pg_call *use = pg_call(&s->pg, Q_FIND_OLD_ALERTS);
    pg_u64(use, q->after_id);
    pg_i64(use, q->until_ms);
    pg_i64(use, s->drift_ms);
    postgres_bind_set(use, own);
    pg_u64(use, q->limit + 1);
    TRY(pg_run(&s->pg, err));
    q->answer.more = pg_rows(use) > q->limit;
    for (size_t i = 0; i < pg_rows(use) && i < q->limit; i++) {
        struct row row = pg_row(use, i, arena);
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

/* They are of no partition: the owner of the first one sees to them, so that no two servers delete
 * the same rows and wait for each other. */
enum rc postgres_find_old_tallies(struct postgres_store *s, const struct ownership *own,
                                  struct arena *arena, struct question *q, struct err *err)
{
    PG_CLEAR(&s->pg);
    VEC(struct tally) old = {0};
    if (own->epochs[0] == 0)
        return RC_OK;
    struct pg_call *use = pg_call(&s->pg, Q_FIND_OLD_TALLIES);
    pg_i64(use, q->hour);
    pg_u64(use, q->limit + 1);
    TRY(pg_run(&s->pg, err));
    q->answer.more = pg_rows(use) > q->limit;
    for (size_t i = 0; i < pg_rows(use) && i < q->limit; i++) {
        struct row row = pg_row(use, i, arena);
        struct tally tally = {.scope = (enum tally_scope)row_u32(&row)};
        tally.key = row_text(&row);
        tally.hour = row_i64(&row);
        tally.end = (enum exec_state)row_u32(&row);
        tally.bucket = row_u32(&row);
        if (!row.bad)
            *VEC_PUSH(arena, &old) = tally;
    }
    q->answer.tallies = old.items;
    q->answer.tally_count = old.len;
    return RC_OK;
}
