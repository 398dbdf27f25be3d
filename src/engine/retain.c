/* retain.c - what is too old goes, a little at a time.
 *
 * From time to time a pass goes over what has ended, by id, and over the dead letters, by their
 * deaths: some rows in a turn, and a pause before the next, so that no submission has to wait for
 * a long deletion. How far a pass has come is not kept: a new server begins a new one. */
#include "engine/internal.h"

enum {
    PASSES = 30, /* in the time that things are kept, so they are gone within a thirtieth more */
    PASS_MIN_MS = 100,
    PASS_MAX_MS = 3600000,
};

static int64_t keep_min_ms(const struct engine *e)
{
    int64_t history_ms = e->options.history_keep_ms;
    int64_t letters_ms = e->options.letters_keep_ms;
    return letters_ms == 0 || (history_ms != 0 && history_ms < letters_ms) ? history_ms
                                                                           : letters_ms;
}

static int64_t pass_ms(const struct engine *e)
{
    int64_t ms = keep_min_ms(e) / PASSES;
    return ms < PASS_MIN_MS ? PASS_MIN_MS : ms > PASS_MAX_MS ? PASS_MAX_MS : ms;
}

int64_t retain_wait_ms(const struct engine *e, int64_t boot_ms)
{
    return keep_min_ms(e) == 0 ? INT64_MAX : e->retain.wake_ms - boot_ms;
}

static struct question *ask(struct engine *e, enum question_kind kind, int64_t until_ms,
                            struct question_list *list)
{
    struct question *q = ARENA_NEW(e->arena, struct question);
    *q = (struct question){
        .kind = kind,
        .until_ms = until_ms,
        .limit = e->options.retain_rows_max,
    };
    *VEC_PUSH(e->arena, list) = q;
    return q;
}

void retain_ask(struct engine *e, struct question_list *list)
{
    e->old_letters = e->old_execs = NULL;
    if (keep_min_ms(e) == 0 || e->boot_ms < e->retain.wake_ms)
        return;
    if (e->options.letters_keep_ms != 0)
        e->old_letters = ask(e, ASK_LETTERS, e->now_ms - e->options.letters_keep_ms - 1, list);
    if (e->options.history_keep_ms != 0) {
        e->old_execs = ask(e, ASK_OLD, e->now_ms - e->options.history_keep_ms, list);
        e->old_execs->after_id = e->retain.after_id;
    }
}

/* Nothing that somebody still has to decide about, and nothing that is not over for long enough. */
static bool may_go(const struct engine *e, const struct old_exec *x)
{
    int64_t keep_ms = e->options.history_keep_ms;
    if (PLANTED(retention_by_birth))
        return !x->is_letter;
    return !x->is_letter && x->finished_ms < e->now_ms - keep_ms;
}

void retain_step(struct engine *e)
{
    bool more = false;
    if (e->old_letters == NULL && e->old_execs == NULL)
        return;
    if (e->old_letters != NULL) {
        const struct answer *a = &e->old_letters->answer;
        for (size_t i = 0; i < a->letter_count; i++)
            letter_take(e, &a->letters[i]);
        more = a->more;
    }
    if (e->old_execs != NULL) {
        const struct answer *a = &e->old_execs->answer;
        for (size_t i = 0; i < a->old_count; i++) {
            if (may_go(e, &a->old[i]))
                *VEC_PUSH(e->arena, &e->forgotten) = a->old[i].id;
        }
        e->retain.after_id = a->more ? a->old[a->old_count - 1].id : 0;
        more = more || a->more;
    }
    e->retain.wake_ms = e->boot_ms + (more ? e->options.retain_pause_ms : pass_ms(e));
}
