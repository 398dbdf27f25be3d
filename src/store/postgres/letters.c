/* letters.c - dead letters, operations on many of them, and the end of what is too old: the writing side.
 * Readers' part is in read_letters.c. */
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"

/* ---- keeping */

static void add_letters(struct pg *pg, const struct delta *delta)
{
    struct pg_use *use = pg_use(pg, Q_PUT_LETTERS);
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

static void remove_letters(struct pg *pg, const struct delta *delta)
{
    struct pg_use *use = pg_use(pg, Q_REMOVE_LETTERS);
    pg_columns(use, "ii", delta->letter_gone_count);
    for (size_t i = 0; i < delta->letter_gone_count; i++) {
        pg_i64(use, delta->letters_gone[i].died_ms);
        pg_u64(use, delta->letters_gone[i].exec_id);
    }
}

static void keep_operation(struct pg *pg, const struct operation_change *change)
{
    const struct operation_rec *op = &change->operation;
    struct pg_use *use = pg_use(pg, change->forget ? Q_FORGET_OPERATION : Q_PUT_OPERATION);
    pg_u64(use, op->id);
    if (change->forget)
        return;
    pg_i64(use, op->kind);
    pg_i64(use, op->state);
    pg_text(use, op->filter.queue);
    pg_text(use, op->filter.name);
    pg_i64(use, op->filter.class);
    pg_u64(use, op->filter.fingerprint);
    pg_u64(use, op->filter.job_id);
    pg_i64(use, op->filter.died_after_ms);
    pg_i64(use, op->filter.died_before_ms);
    pg_text(use, op->by);
    pg_i64(use, op->created_ms);
    pg_i64(use, op->finished_ms);
    pg_u64(use, op->total);
    pg_u64(use, op->done);
    pg_u64(use, op->refused);
    pg_i64(use, op->at.died_ms);
    pg_u64(use, op->at.exec_id);
    pg_text(use, op->refusal);
}

void postgres_keep_letters(struct pg *pg, const struct delta *delta)
{
    if (delta->letter_gone_count > 0)
        remove_letters(pg, delta);
    if (delta->letter_count > 0)
        add_letters(pg, delta);
    for (size_t i = 0; i < delta->operation_count; i++)
        keep_operation(pg, &delta->operations[i]);
}

/* Jobs first, while the executions that tell about them are still there. */
void postgres_forget(struct pg *pg, const struct delta *delta)
{
    static const enum query steps[] = {Q_FORGET_JOBS, Q_FOLD_JOBS, Q_FORGET_ATTEMPTS,
                                       Q_FORGET_EXECS};
    for (size_t step = 0; delta->forgotten_count > 0 && step < COUNT_OF(steps); step++) {
        struct pg_use *use = pg_use(pg, steps[step]);
        pg_columns(use, "i", delta->forgotten_count);
        for (size_t i = 0; i < delta->forgotten_count; i++)
            pg_u64(use, delta->forgotten[i]);
    }
}

/* ---- asking */

enum rc postgres_find_letters(struct postgres_store *s, const struct ownership *own,
                              struct arena *arena, struct question *q, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *clear = &s->pg;
    VEC(struct letter_rec) letters = {0};
    struct pg_use *use = pg_use(&s->pg, Q_FIND_LETTERS);
    pg_i64(use, q->place.died_ms);
    pg_u64(use, q->place.exec_id);
    pg_i64(use, q->until_ms);
    postgres_bind_set(use, own);
    pg_i64(use, LETTERS_SCAN_MAX + 1);
    TRY(pg_run(&s->pg, err));
    for (size_t looked = 0; looked < pg_rows(use); looked++) {
        struct letter_rec letter;
        q->answer.more = looked == LETTERS_SCAN_MAX || letters.len == q->limit;
        if (q->answer.more)
            break;
        struct pg_row row = pg_row_of(use, looked, arena);
        bool good = pg_row_letter(&row, &letter);
        q->answer.place = letter.place;
        if (good && letter_fits(&q->filter, &letter))
            *VEC_PUSH(arena, &letters) = letter;
    }
    q->answer.letters = letters.items;
    q->answer.letter_count = letters.len;
    return RC_OK;
}

enum rc postgres_find_old(struct postgres_store *s, const struct ownership *own,
                          struct arena *arena, struct question *q, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *clear = &s->pg;
    VEC(struct old_exec) old = {0};
    struct pg_use *use = pg_use(&s->pg, Q_FIND_OLD);
    pg_u64(use, q->after_id);
    pg_i64(use, q->until_ms);
    pg_i64(use, s->drift_ms);
    postgres_bind_set(use, own);
    pg_u64(use, q->limit + 1);
    TRY(pg_run(&s->pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        q->answer.more = old.len == q->limit;
        if (q->answer.more)
            break;
        struct pg_row row = pg_row_of(use, i, arena);
        struct old_exec exec = {.id = pg_row_u64(&row)};
        exec.finished_ms = pg_row_i64(&row);
        exec.is_letter = pg_row_bool(&row) || row.bad; /* what makes no sense is not deleted */
        *VEC_PUSH(arena, &old) = exec;
    }
    q->answer.old = old.items;
    q->answer.old_count = old.len;
    return RC_OK;
}
