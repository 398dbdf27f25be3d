/* model_letters.c - dead letters, and what is too old. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

/* ---- becoming one */

static bool is_dead(enum exec_state state)
{
    return state == EXEC_FAILED || state == EXEC_TIMEOUT;
}

/* Why there is no further attempt, by how the last one ended. */
static enum letter_reason reason_of(const struct world *w, const struct model_exec *x)
{
    const struct model_attempt *last = &x->attempts.items[x->attempts.len - 1];
    bool lasts = last->class == FAILURE_PERMISSION || last->class == FAILURE_NOT_FOUND ||
                 last->class == FAILURE_USER;
    if (x->ended_by == EV_QUARANTINE)
        return LETTER_QUARANTINED;
    if (x->rec.attempts > model_wish(&w->model, x->job)->rules.retry.max_retries)
        return LETTER_EXHAUSTED;
    return last->permanent == PERMANENT_YES || (lasts && last->permanent != PERMANENT_NO)
               ? LETTER_PERMANENT
               : LETTER_NOT_RETRIED;
}

static void keep_letter(struct world *w, const struct letter_rec *rec)
{
    struct model *m = &w->model;
    struct model_exec *x = model_exec(m, rec->place.exec_id);
    PROMISE(w, x != NULL && is_dead(x->rec.state) && x->changed_turn == m->turn,
            "a dead letter was kept of what has not died in this turn");
    const struct model_attempt *last = &x->attempts.items[x->attempts.len - 1];
    PROMISE(w, rec->reason == reason_of(w, x), "%s failed for good and says '%.*s', not '%.*s'",
            exec_label(w, x->rec.id), STR_ARG(letter_reason_name(rec->reason)),
            STR_ARG(letter_reason_name(reason_of(w, x))));
    PROMISE(w,
            rec->job_id == x->rec.job_id && rec->state == x->rec.state &&
                rec->place.died_ms == x->rec.finished_ms && str_eq(rec->queue, x->rec.queue) &&
                str_eq(rec->name, x->job->rec.name) && str_eq(rec->error, x->rec.error) &&
                rec->class == last->class && rec->attempts == x->rec.attempts &&
                rec->lost == x->rec.lost,
            "the dead letter of %s says otherwise than its execution", exec_label(w, x->rec.id));
    x->is_letter = true;
    x->letter = *rec;
    x->letter.queue = x->rec.queue;
    x->letter.name = x->job->rec.name;
    x->letter.owner = x->job->rec.owner;
    x->letter.error = x->rec.error;
    x->letter.line = arena_str(m->arena, rec->line);
    operations_meet(w, x);
}

/* ---- leaving */

static bool was_discarded(const struct world *w, uint64_t exec_id, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_DISCARD_LETTER && cmd->target.id == exec_id && cmd->reply.rc == RC_OK)
            return true;
    }
    return operations_discard(&w->model, model_exec(&w->model, exec_id));
}

static bool was_run_again(const struct model *m, const struct model_exec *x)
{
    for (size_t i = 0; i < x->job->execs.len; i++) {
        const struct model_exec *other = x->job->execs.items[i];
        if (other->rec.retry_of == x->rec.id && other->born_turn == m->turn)
            return true;
    }
    return false;
}

static void letter_leaves(struct world *w, struct letter_place place, const struct turn_view *view)
{
    struct model_exec *x = model_exec(&w->model, place.exec_id);
    int64_t keep_ms = w->scene.engine.letters_keep_ms;
    PROMISE(w, x != NULL && x->is_letter && letter_order(place, x->letter.place) == 0,
            "a dead letter leaves that was none");
    bool expired = keep_ms != 0 && place.died_ms < view->now.wall_ms - keep_ms;
    bool again = was_run_again(&w->model, x);
    PROMISE(w, expired || again || was_discarded(w, place.exec_id, view),
            "the dead letter of %s left, and nobody asked for that", exec_label(w, x->rec.id));
    if (!again && !was_discarded(w, place.exec_id, view))
        clocks_delete(w, view);
    if (expired && !again)
        saw(SAW_LETTER_EXPIRED);
    if (again)
        saw(SAW_LETTER_RETRIED);
    x->is_letter = false;
    x->letter_left_turn = w->model.turn;
}

/* ---- a turn */

/* Whoever died is a letter from the same commit on, and whoever is run again is none any more. */
static void check_letter(struct world *w, const struct exec_change *change)
{
    const struct model_exec *x = model_exec(&w->model, change->exec.id);
    const struct model_exec *before = model_exec(&w->model, change->exec.retry_of);
    bool dead =
        is_dead(x->rec.state) && x->rec.origin != ORIGIN_PING; /* nobody could run it again */
    PROMISE(w, x->is_letter == dead, "%s is %.*s, and %s a dead letter", exec_label(w, x->rec.id),
            STR_ARG(exec_state_name(x->rec.state)), x->is_letter ? "is" : "is not");
    PROMISE(w, x->born_turn != w->model.turn || before == NULL || !before->is_letter,
            "%s was run again, and is a dead letter all the same",
            exec_label(w, change->exec.retry_of));
}

void letters_keep(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    for (size_t i = 0; i < delta->letter_gone_count; i++)
        letter_leaves(w, delta->letters_gone[i], view);
    for (size_t i = 0; i < delta->letter_count; i++)
        keep_letter(w, &delta->letters[i]);
    operations_keep(w, delta, view);
    for (size_t i = 0; i < delta->exec_count; i++)
        check_letter(w, &delta->execs[i]);
}

/* ---- what is too old */

static bool all_forgotten(const struct model_job *job)
{
    for (size_t i = 0; i < job->execs.len; i++) {
        if (job->execs.items[i]->forgotten_turn == 0)
            return false;
    }
    return job_is_over(job->rec.state);
}

void letters_forget(struct world *w, uint64_t exec_id, const struct turn_view *view)
{
    struct model_exec *x = model_exec(&w->model, exec_id);
    int64_t keep_ms = w->scene.engine.history_keep_ms;
    PROMISE(w, x != NULL && x->forgotten_turn == 0, "something was deleted that was not there");
    PROMISE(w, exec_is_final(x->rec.state), "%s was deleted, and it is not over",
            exec_label(w, exec_id));
    PROMISE(w, keep_ms != 0 && x->rec.finished_ms < view->now.wall_ms - keep_ms,
            "%s was deleted %" PRId64 " ms after its end", exec_label(w, exec_id),
            view->now.wall_ms - x->rec.finished_ms);
    PROMISE(w, !x->is_letter, "%s was deleted, and it is a dead letter", exec_label(w, exec_id));
    clocks_delete(w, view);
    saw(SAW_HISTORY_FORGOTTEN);
    x->forgotten_turn = w->model.turn;
    if (!all_forgotten(x->job))
        return;
    saw(SAW_JOB_FORGOTTEN);
    x->job->forgotten_turn = w->model.turn;
}
