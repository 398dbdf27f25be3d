/* model_queues.c - queues come with their work, and go when nobody needs them: counted anew from what the model
 * knows of executions, dead letters and settings. */
#include "choice.h"
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static bool has_settings(const struct model *m, struct str name)
{
    struct queue_rec rec = model_queue(m, name);
    return rec.paused || rec.concurrency > 0;
}

static bool is_work(const struct model_exec *x, struct str queue)
{
    return (x->is_letter || !exec_is_final(x->rec.state)) && str_eq(x->rec.queue, queue);
}

static bool has_work(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->execs.len; i++) {
        if (is_work(m->execs.items[i], name))
            return true;
    }
    return false;
}

bool model_queue_needed(const struct model *m, struct str name)
{
    return has_settings(m, name) || has_work(m, name);
}

static bool is_deleted(const struct turn_view *view, struct str name)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_QUEUE && cmd->queue.forget && str_eq(cmd->queue.name, name))
            return true;
    }
    return false;
}

static void drop_settings(struct model *m, struct str name)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->queues.len; i++) {
        if (!str_eq(m->queues.items[i].name, name))
            m->queues.items[kept++] = m->queues.items[i];
    }
    m->queues.len = kept;
}

/* Among several servers each forgets its own part, by what is in its own partitions. Only a delete
 * is for all of them: then nothing may be left anywhere, but for what came while its turn was under
 * way. */
static const struct model_exec *left_behind(const struct model *m, struct str name, bool deleted,
                                            const struct turn_view *view)
{
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        bool own = partition_has(&view->owned, x->rec.id);
        if (is_work(x, name) && (own || (deleted && x->changed_turn < view->turn)))
            return x;
    }
    return NULL;
}

static void check_gone(struct world *w, const struct queue_gone *gone, const struct turn_view *view)
{
    bool deleted = is_deleted(view, gone->name);
    const struct model_exec *left = left_behind(&w->model, gone->name, deleted, view);
    saw(deleted ? SAW_QUEUE_DELETED : SAW_QUEUE_FORGOTTEN);
    SAY(w, "store", "queue '%.*s' is %s", STR_ARG(gone->name), deleted ? "deleted" : "forgotten");
    PROMISE(w, left == NULL, "queue '%.*s' was %s, and has %s", STR_ARG(gone->name),
            deleted ? "deleted" : "forgotten", exec_label(w, left->rec.id));
    PROMISE(w, deleted || !gone->settings || !has_settings(&w->model, gone->name),
            "queue '%.*s' was forgotten with its settings, and nobody asked for that",
            STR_ARG(gone->name));
}

void queues_keep(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    for (size_t i = 0; i < delta->queue_gone_count; i++) {
        check_gone(w, &delta->queues_gone[i], view);
        if (delta->queues_gone[i].settings)
            drop_settings(&w->model, delta->queues_gone[i].name);
    }
}

/* ---- refused for want of room */

static bool is_named(const struct command *cmd, struct str name)
{
    if (cmd->kind == CMD_QUEUE)
        return str_eq(cmd->queue.name, name);
    for (size_t i = 0; cmd->kind == CMD_SUBMIT && i < cmd->submit.count; i++) {
        if (str_eq(cmd->submit.items[i].rules.queue, name))
            return true;
    }
    return false;
}

/* By something that is, or was until this turn. */
static bool was_needed(const struct world *w, const struct turn_view *view, struct str name)
{
    const struct model *m = &w->model;
    for (size_t i = 0; i < view->count; i++) {
        if (is_named(view->commands[i], name))
            return true;
    }
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        bool now = x->changed_turn >= view->turn || x->letter_left_turn >= view->turn;
        if (now && str_eq(x->rec.queue, name))
            return true;
    }
    return model_queue_needed(m, name);
}

void queues_check_limited(struct world *w)
{
    const struct turn_view *view = w->door->view;
    size_t needed = 0;
    saw(SAW_QUEUE_LIMITED);
    for (size_t i = 0; i < view->count; i++) {
        if (view->commands[i]->kind == CMD_EDIT_JOB)
            return; /* it may have taken a job from one queue to another */
    }
    for (size_t i = 0; i < COUNT_OF(queue_words); i++)
        needed += was_needed(w, view, queue_words[i]);
    for (size_t i = 0; i < COUNT_OF(passing_words); i++)
        needed += was_needed(w, view, passing_words[i]);
    needed += was_needed(w, view, STR("nowhere"));
    PROMISE(w, needed >= w->scene.engine.queues_max,
            "a queue was refused, and %zu of %zu are needed", needed, w->scene.engine.queues_max);
}
