/* promise_estimates.c - when something is said to start, against what the model knows.
 *
 * An estimate is a guess, so nobody is held to the moment. What can be promised: it is never in the
 * past nor before the execution is due; it is missing where nothing but a change would let the
 * execution start, and says why; and on a day whose clock goes evenly it is no later than if all that
 * is ready ran before, one after the other, each as long as the longest run so far. That is not said
 * of an execution when others had a higher priority: more of those are taken to come and pass it. */
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

enum { FAR_MS = 60000 }; /* behind this an estimate does not look at what is in the way now */

static bool has_line(struct str lines, struct str line)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), line))
            return true;
    }
    return false;
}

static bool serves(const struct worker_rec *worker, const struct rules *rules)
{
    bool knows =
        rules->handler.len > 0 ? has_line(worker->handlers, rules->handler) : worker->runs_commands;
    return knows && (worker->queues.len == 0 || has_line(worker->queues, rules->queue));
}

static bool is_served(const struct world *w, const struct rules *rules)
{
    for (size_t i = 0; i < w->model.workers.len; i++) {
        const struct model_worker *worker = w->model.workers.items[i];
        if (!worker->forgotten && serves(&worker->rec, rules))
            return true;
    }
    return false;
}

/* Nothing but a change lets it start. */
static bool must_be_missing(const struct world *w, const struct model_exec *x, int64_t boot_ms)
{
    enum exec_state state = x->rec.state;
    bool paused = model_queue(&w->model, model_wish(&w->model, x->job)->rules.queue).paused;
    return exec_is_final(state) || exec_is_leased(state) || state == EXEC_BLOCKED ||
           x->job->rec.state == JOB_PAUSED || (paused && model_settings_known(w, boot_ms));
}

static int64_t later_ms(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

/* Where no rate, breaker or calendar puts it off, on a day whose clock is not set. */
static bool is_calm(const struct world *w, const struct model_exec *x)
{
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    return !w->scene.clocks && w->faults.permille[FAULT_CLOCK_FORWARD] == 0 &&
           w->faults.permille[FAULT_CLOCK_BACK] == 0 && !w->past.gone_back &&
           rules->rate.key.len == 0 && rules->calendar_count == 0 && !breakers_hold(w, x);
}

static bool may_be_passed(const struct world *w, const struct model_exec *x)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        if (w->model.execs.items[i]->rec.priority > x->rec.priority)
            return true;
    }
    return false;
}

static int64_t latest_ms(const struct world *w, int64_t from_ms, int64_t now_ms)
{
    int64_t longest_ms = w->model.longest_ms;
    int64_t ready = 0;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct exec_rec *rec = &w->model.execs.items[i]->rec;
        ready +=
            rec->state == EXEC_QUEUED || w->model.execs.items[i]->changed_turn == w->model.turn;
        if (exec_is_leased(rec->state)) /* it may have ended in a turn that was undone */
            longest_ms = later_ms(longest_ms, now_ms - rec->started_ms);
    }
    return from_ms + (ready + 1) * later_ms(longest_ms, 1);
}

static void check_not_too_late(struct world *w, const struct model_exec *x, int64_t due_ms,
                               const struct estimate *told)
{
    int64_t now_ms = w->door->view->now.wall_ms;
    int64_t last_ms = latest_ms(w, later_ms(now_ms, due_ms), now_ms);
    PROMISE(w, !is_calm(w, x) || may_be_passed(w, x) || told->at_ms <= last_ms,
            "%s is said to start %" PRId64 " ms later than if all ran one after the other",
            exec_label(w, x->rec.id), told->at_ms - last_ms);
}

void promise_estimate(struct world *w, const struct model_exec *x, const struct estimate *told)
{
    const struct moment now = w->door->view->now;
    int64_t from_ms = later_ms(now.wall_ms, x->rec.due_ms);
    PROMISE(w, (told->at_ms == 0) == (told->reason.len > 0),
            "%s is said to start, and why nobody can say when, or neither",
            exec_label(w, x->rec.id));
    if (told->at_ms == 0)
        return;
    saw(SAW_ESTIMATED);
    PROMISE(w, told->at_ms >= from_ms, "%s is said to start %" PRId64 " ms before it can",
            exec_label(w, x->rec.id), from_ms - told->at_ms);
    PROMISE(w, !must_be_missing(w, x, now.boot_ms),
            "%s is said to start, and what it is leaves no start to be told",
            exec_label(w, x->rec.id));
    PROMISE(
        w,
        told->at_ms > now.wall_ms + FAR_MS || is_served(w, &model_wish(&w->model, x->job)->rules),
        "%s is said to start within a minute, and no worker serves it", exec_label(w, x->rec.id));
    check_not_too_late(w, x, x->rec.due_ms, told);
}

void promise_estimate_of_new(struct world *w, const struct submission *item)
{
    const struct estimate *told = &item->estimate;
    int64_t now_ms = w->door->view->now.wall_ms;
    if (item->rc != RC_OK || item->existing || item->once.replayed)
        return;
    PROMISE(w,
            (told->at_ms == 0) == (told->reason.len > 0) &&
                (told->at_ms == 0 || told->at_ms >= later_ms(now_ms, item->due_ms)),
            "%s is said to start at a moment that cannot be", exec_label(w, item->exec_id));
    const struct model_exec *x = model_exec(&w->model, item->exec_id);
    if (x != NULL)
        check_not_too_late(w, x, item->due_ms, told);
}
