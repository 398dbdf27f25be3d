/* model_deadlines.c - what should have started: late exactly when it is, and over when it may not. */
#include "model.h"
#include "world.h"

#include <inttypes.h>

/* When it was promised to run. */
static int64_t promised_ms(const struct world *w, const struct model_exec *x)
{
    int64_t at_ms = x->rec.origin == ORIGIN_REQUEST || x->rec.retry_of != 0 ? x->rec.created_ms
                                                                            : model_due_ms(x);
    return at_ms + clocks_shifted_ms(w, x);
}

/* What was never given to a worker, and is not over. The slot that is ahead is no promise yet. */
static bool may_be_late(const struct model_exec *x)
{
    enum exec_state state = x->rec.state;
    return x->rec.token == 0 && (state == EXEC_QUEUED || state == EXEC_BLOCKED ||
                                 (state == EXEC_SCHEDULED && x->rec.origin != ORIGIN_SLOT &&
                                  x->job->rec.state == JOB_PAUSED));
}

int64_t model_deadline_ms(const struct world *w, const struct model_exec *x)
{
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    if (!may_be_late(x))
        return 0;
    if (rules->start_within_ms > 0 && !x->rec.late)
        return promised_ms(w, x) + rules->start_within_ms;
    return rules->expires_in_ms > 0 ? promised_ms(w, x) + rules->expires_in_ms : 0;
}

void deadlines_step(struct world *w, struct model_exec *x, enum exec_event event,
                    const struct turn_view *view)
{
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    int64_t waited_ms = view->now.wall_ms - promised_ms(w, x);
    bool late = rules->start_within_ms > 0 && waited_ms >= rules->start_within_ms;
    bool overdue = rules->expires_in_ms > 0 && waited_ms >= rules->expires_in_ms;
    if (event == EV_LATE)
        x->late_turn = w->model.turn;
    if (model_edited_now(&w->model, x->job)) { /* by the old rules, or by the new ones */
        x->rec.late |= event == EV_LATE;
        return;
    }
    if (event == EV_LATE) {
        PROMISE(w, late && x->rec.token == 0, "%s is said to be late, and is not",
                exec_label(w, x->rec.id));
        PROMISE(w, !x->rec.late, "%s is said to be late once more", exec_label(w, x->rec.id));
        x->rec.late = true;
    }
    if (event == EV_OVERDUE)
        PROMISE(w, overdue && x->rec.token == 0, "%s expired after %" PRId64 " ms",
                exec_label(w, x->rec.id), waited_ms);
    if (event == EV_LEASE && x->rec.token == 0 && !clocks_hold(w))
        PROMISE(w, !overdue && (!late || x->rec.late),
                "%s started %" PRId64 " ms after it was to, and nobody minds",
                exec_label(w, x->rec.id), waited_ms);
}
