/* model_pings.c - jobs that expect pings: each silence and failure is told, and one trouble once. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

bool model_expects(const struct model *m, const struct model_job *job)
{
    return model_wish(m, job)->rules.expects;
}

static int64_t wait_ms(const struct model_exec *x)
{
    return x->job->schedule->every_ms;
}

/* The ping of this turn that the execution records; NULL: there is none. */
static const struct ping *find_ping(const struct model_exec *x, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_PING && cmd->reply.rc == RC_OK && cmd->reply.exec_id == x->rec.id)
            return cmd->target.ping;
    }
    return NULL;
}

/* Jobs are paused or resumed in this turn: which of its steps came before is not known. */
static bool is_unclear(const struct world *w, const struct model_job *job,
                       const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        enum command_kind kind = view->commands[i]->kind;
        if ((kind == CMD_PAUSE_JOB || kind == CMD_RESUME_JOB || kind == CMD_CANCEL_JOB) &&
            view->commands[i]->target.id == job->rec.id)
            return true;
    }
    return operations_do(&w->model, OPERATION_PAUSE_JOBS) ||
           operations_do(&w->model, OPERATION_RESUME_JOBS) ||
           operations_do(&w->model, OPERATION_CANCEL_JOBS);
}

/* Trouble, which is to be told unless it was. */
static void worry(struct world *w, struct model_job *job, const struct turn_view *view)
{
    if (job->worry_turn != w->model.turn)
        job->worries = 0;
    job->worry_turn = w->model.turn;
    job->worries_unclear = is_unclear(w, job, view);
    if (job->rec.state == JOB_PAUSED)
        return;
    saw(job->trouble ? SAW_TROUBLE_GOES_ON : SAW_TROUBLE);
    job->worries += !job->trouble;
    job->trouble = true;
}

static void be_pinged(struct world *w, struct model_exec *x, bool failed,
                      const struct turn_view *view)
{
    const struct ping *ping = find_ping(x, view);
    PROMISE(w, ping != NULL && ping->failed == failed, "%s records a ping that nobody sent",
            exec_label(w, x->rec.id));
    x->rec.token = PING_TOKEN;
    *VEC_PUSH(w->model.arena, &x->attempts) = (struct model_attempt){.token = PING_TOKEN};
    if (failed)
        worry(w, x->job, view);
    else
        x->job->trouble = false;
}

static void be_missed(struct world *w, struct model_exec *x, const struct turn_view *view)
{
    PROMISE(w, !x->rec.late, "the silence of %s is told once more", exec_label(w, x->rec.id));
    PROMISE(w, view->now.wall_ms >= x->rec.slot_ms, "%s is missed %" PRId64 " ms too soon",
            exec_label(w, x->rec.id), x->rec.slot_ms - view->now.wall_ms);
    PROMISE(w, x->job->rec.state != JOB_PAUSED || is_unclear(w, x->job, view),
            "%s is missed, and its job is paused", exec_label(w, x->rec.id));
    x->rec.late = true;
    worry(w, x->job, view);
}

/* By a resume, which begins anew, or because a clock was ahead. */
static void be_moved(struct world *w, struct model_exec *x, const struct exec_rec *to,
                     struct str reason, const struct turn_view *view)
{
    bool by_clock = slots_returns(EV_PLAN, reason);
    PROMISE(w, by_clock || is_unclear(w, x->job, view), "%s is moved, and nobody asked",
            exec_label(w, x->rec.id));
    PROMISE(w, exec_is_final(to->state) || to->slot_ms <= view->now.wall_ms + wait_ms(x),
            "%s waits for longer than it should", exec_label(w, x->rec.id));
    x->rec.slot_ms = to->slot_ms;
    x->rec.due_ms = to->due_ms;
    x->rec.late = false;
    if (!by_clock)
        x->job->trouble = false;
}

void pings_step(struct world *w, struct model_exec *x, enum exec_event event, struct str reason,
                const struct exec_rec *to, const struct turn_view *view)
{
    switch (event) {
    case EV_CREATE:
        x->rec.due_ms = view->now.wall_ms + wait_ms(x);
        PROMISE(w, to->slot_ms == x->rec.due_ms || is_unclear(w, x->job, view),
                "%s waits for a ping until %" PRId64 ", not %" PRId64, exec_label(w, x->rec.id),
                to->slot_ms, x->rec.due_ms);
        x->rec.slot_ms = to->slot_ms;
        break;
    case EV_SUCCEED:
    case EV_EXHAUST: be_pinged(w, x, event == EV_EXHAUST, view); break;
    case EV_MISS: be_missed(w, x, view); break;
    case EV_PLAN: be_moved(w, x, to, reason, view); break;
    default:
        PROMISE(w, event == EV_CANCEL, "%s is not run here, and %.*s", exec_label(w, x->rec.id),
                STR_ARG(exec_event_name(event)));
        break;
    }
}

static bool is_about(const struct alert_rec *alert, const struct model_job *job)
{
    return alert->kind == ALERT_MISSED && alert->job_id == job->rec.id;
}

void pings_told(struct world *w, const struct delta *delta)
{
    struct model *m = &w->model;
    for (size_t i = 0; i < m->jobs.len; i++) {
        const struct model_job *job = m->jobs.items[i];
        uint32_t told = 0;
        for (size_t k = 0; k < delta->alert_count; k++)
            told += is_about(&delta->alerts[k], job);
        uint32_t want = job->worry_turn == m->turn ? job->worries : 0;
        bool unclear = job->worry_turn == m->turn && job->worries_unclear;
        PROMISE(w, told == want || unclear,
                "%s came into trouble %" PRIu32 " times, and that was told %" PRIu32 " times",
                job_label(w, job->rec.id), want, told);
    }
}
