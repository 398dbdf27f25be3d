/* model_steps.c - every step of an execution is one of the table's, and happens for a reason. */
#include "coverage.h"
#include "job/record/trail.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static bool event_of(struct str name, enum exec_event *ret_event)
{
    for (int i = 0; i < EXEC_EVENTS; i++) {
        if (str_eq(exec_event_name((enum exec_event)i), name)) {
            *ret_event = (enum exec_event)i;
            return true;
        }
    }
    return false;
}

static bool reports(const struct poll *poll, const struct model_exec *x)
{
    return model_result(poll, x->rec.id, x->rec.token) != NULL;
}

/* A rightful word from the worker in this turn: the result, or a poll without it that was written
 * after its worker could know of it. */
static bool was_let_go(const struct model_exec *x, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind != CMD_POLL || cmd->poll.worker_id != x->rec.worker_id ||
            cmd->reply.rc != RC_OK)
            continue;
        bool named = cmd->poll.seq <= x->sent_seq && !reports(&cmd->poll, x);
        for (size_t j = 0; j < cmd->poll.held_count; j++)
            named |=
                cmd->poll.held[j].exec_id == x->rec.id && cmd->poll.held[j].token == x->rec.token;
        if (!named) /* reports it, or does not have it */
            return true;
    }
    return false;
}

/* A newer worker has proved that it is dead: by a registration of this turn, or by one that was kept. */
static bool is_dead(const struct world *w, uint64_t worker_id, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_REGISTER && cmd->reply.rc == RC_OK && cmd->hello.replaces == worker_id)
            return true;
    }
    for (size_t i = 0; i < w->model.workers.len; i++) {
        if (w->model.workers.items[i]->rec.replaces == worker_id)
            return true;
    }
    return false;
}

static void lease_ends(struct world *w, const struct model_exec *x, const struct turn_view *view)
{
    PROMISE(w,
            view->now.boot_ms >= x->lease_until_ms || was_let_go(x, view) ||
                is_dead(w, x->rec.worker_id, view),
            "the lease of %s was taken %" PRId64 " ms before its end, though its worker neither "
            "reported nor dropped it",
            exec_label(w, x->rec.id), x->lease_until_ms - view->now.boot_ms);
}

/* As of the end of this turn, which may have changed it. */
static bool is_cordoned(const struct model_worker *worker, const struct turn_view *view)
{
    bool cordoned = worker->rec.cordoned_ms > 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        bool about = (cmd->kind == CMD_CORDON || cmd->kind == CMD_UNCORDON) &&
                     cmd->target.id == worker->rec.id && cmd->reply.rc == RC_OK;
        if (about)
            cordoned = cmd->kind == CMD_CORDON;
    }
    return cordoned;
}

/* Its home knows at once, all others within the lease of a node. */
static void check_cordon(struct world *w, const struct model_worker *worker,
                         const struct model_exec *x, const struct turn_view *view)
{
    bool home = !w->cluster || partition_has(&view->owned, worker->rec.id);
    PROMISE(w, !is_cordoned(worker, view) || !(home || model_settings_known(w, view->now.boot_ms)),
            "%s was granted to a worker that is cordoned", exec_label(w, x->rec.id));
}

static void lease_begins(struct world *w, struct model_exec *x, const struct exec_rec *to,
                         const struct turn_view *view)
{
    const struct model_worker *worker = model_worker(&w->model, to->worker_id);
    PROMISE(w,
            worker == NULL || !worker->rec.draining || /* its home knows; others hear of it */
                !partition_has(&view->owned, worker->rec.id),
            "%s was granted to a worker that drains", exec_label(w, to->id));
    if (worker != NULL)
        check_cordon(w, worker, x, view);
    PROMISE(w, exec_is_final(to->state) || to->started_ms == view->now.wall_ms,
            "%s is granted now, and says another time", exec_label(w, to->id));
    x->lease_until_ms = view->now.boot_ms + w->scene.engine.lease_ms;
    x->lease_epoch = w->model.epochs[partition_of(view->owned.count, to->id)];
    failures_begin(w, x, view);
    x->holder = to->worker_id;
    x->sent_seq = 0;
    x->rec.token = w->past.gone_back && to->token > x->rec.token ? to->token : x->rec.token + 1;
    *VEC_PUSH(w->model.arena, &x->attempts) =
        (struct model_attempt){.token = x->rec.token, .worker_id = to->worker_id};
}

/* Somebody asked for the only run of this job before its time. */
static bool was_triggered(const struct world *w, const struct model_exec *x,
                          const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind == CMD_TRIGGER_JOB && cmd->target.id == x->rec.job_id &&
            cmd->reply.rc == RC_OK && !model_recurs(x))
            return true;
    }
    return !model_recurs(x) && operations_do(&w->model, OPERATION_TRIGGER_JOBS);
}

/* What it is when it is made; its lease may follow in the same turn. */
static enum exec_state first_state(const struct world *w, const struct model_exec *x,
                                   const struct trail_step *step, const struct exec_rec *to,
                                   const struct turn_view *view)
{
    if (model_waits(w, x) && str_eq(step->state, exec_state_name(EXEC_BLOCKED)))
        return EXEC_BLOCKED; /* model_check_waits knows whether that is right */
    bool first = x->rec.retry_of == 0;
    bool asks = first && x->number == 1 && model_wish(&w->model, x->job)->rules.calendar_count > 0;
    bool later = first && (to->due_ms > 0 || to->slot_ms > view->now.wall_ms);
    return model_recurs(x) || later || asks ? EXEC_SCHEDULED : EXEC_QUEUED;
}

/* Work is done once, and what came of it is kept. */
static void promise_effect(struct world *w, const struct model_exec *x, enum exec_event event,
                           const struct exec_rec *to)
{
    PROMISE(w, event != EV_LEASE || !x->rec.effect_done,
            "%s was delivered again, though its work is done", exec_label(w, to->id));
    PROMISE(w, event != EV_DEDUPLICATE || to->effect_done,
            "%s was deduplicated, and nobody did its work", exec_label(w, to->id));
    if (event == EV_SUCCEED)
        PROMISE(w, str_eq(to->result, STR(SIM_RESULT)) && to->error.len == 0,
                "%s succeeded, and its result is lost", exec_label(w, to->id));
}

/* Where the execution stands behind the step. */
static void go_on(struct world *w, struct model_exec *x, enum exec_event event,
                  const struct exec_rec *to, enum exec_state next, const struct turn_view *view)
{
    x->lost += event == EV_LOST || event == EV_QUARANTINE;
    x->returned += event == EV_RETURN;
    if (event == EV_RETURN && to->unseen == 0 && x->kills > x->lost)
        x->kills = x->lost; /* its worker reported: only deaths in a row are held against it */
    x->slow = x->slow && event != EV_RETRY;
    x->ended_by = event;
    x->ended_boot_ms = w->boot_ms;
    if (event == EV_HOLD) { /* it may go on in the same turn */
        x->rec.due_ms = to->due_ms;
        x->rec.ready_ms = view->now.wall_ms;
    } else if (event == EV_DUE) {
        x->rec.due_ms = 0; /* and its lease may follow */
    }
    if (next == EXEC_QUEUED)
        x->queued_ms = w->boot_ms;
    x->rec.state = next;
}

static void take_step(struct world *w, struct model_exec *x, enum exec_event event,
                      const struct trail_step *step, const struct exec_rec *to,
                      const struct turn_view *view)
{
    enum exec_state from = x->rec.state;
    saw_step(event);
    if (from == EXEC_QUEUED && event == EV_SUCCEED)
        saw(SAW_LATE_SUCCESS);
    enum exec_state next = event == EV_CREATE ? to->state : exec_next(from, event);
    PROMISE(w, next != EXEC_NONE && (event == EV_CREATE) == (from == EXEC_NONE),
            "%s took a step that is not in the table", exec_label(w, to->id));
    if (event == EV_CREATE)
        next = first_state(w, x, step, to, view);
    if (x->rec.origin == ORIGIN_PING) {
        pings_step(w, x, event, step->reason, to, view);
        go_on(w, x, event, to, next, view);
        return;
    }
    deadlines_step(w, x, event, view);
    clocks_step(w, x, event, was_triggered(w, x, view) || model_edited_now(&w->model, x->job));
    bool edited = model_edited_now(&w->model, x->job);
    bool by_clock = event == EV_PLAN && clocks_replanned(w, x, step->reason, to, view);
    PROMISE(w,
            from != EXEC_SCHEDULED || event != EV_PLAN || edited ||
                model_is_held_by_calendar(&x->rec) || by_clock ||
                slots_returns(event, step->reason),
            "%s is moved, and nobody asked", exec_label(w, to->id));
    if (from == EXEC_SCHEDULED && x->rec.origin != ORIGIN_REQUEST && !was_triggered(w, x, view))
        calendars_step(w, x, event, step->reason, to, view);
    if (from == EXEC_SCHEDULED && event != EV_CANCEL && event != EV_LATE &&
        x->rec.origin == ORIGIN_SLOT && !by_clock)
        slots_decided(w, x, event, step->reason, to, view);
    if (!was_triggered(w, x, view))
        waits_step(w, x, event, step->reason, view);
    if (event == EV_DUE || event == EV_LEASE)
        PROMISE(w,
                view->now.wall_ms >= x->rec.due_ms || was_triggered(w, x, view) || edited ||
                    calendars_let_go(w, x, view),
                "%s ran %" PRId64 " ms before its time", exec_label(w, to->id),
                x->rec.due_ms - view->now.wall_ms);
    if (exec_is_leased(from) && !exec_is_leased(next))
        lease_ends(w, x, view);
    if (event == EV_LEASE)
        lease_begins(w, x, to, view);
    promise_effect(w, x, event, to);
    if (exec_is_leased(from) && !edited)
        failures_step(w, x, event, to, view);
    if (event == EV_RETRY && !edited)
        failures_wait(w, x, to, view);
    slas_step(w, x, event, next, view);
    go_on(w, x, event, to, next, view);
}

void steps_take(struct world *w, struct model_exec *x, struct str steps, const struct exec_rec *to,
                const struct turn_view *view)
{
    struct trail_step step;
    while (trail_next(&steps, &step)) {
        enum exec_event event;
        if (slas_note(w, x, &step, view) || pace_note(w, x, &step, view) ||
            clocks_note(w, x, &step))
            continue;
        PROMISE(w, event_of(step.event, &event), "%s: what is '%.*s'?", exec_label(w, to->id),
                STR_ARG(step.event));
        PROMISE(w, step.at_ms == view->now.wall_ms, "%s took a step now, and says another time",
                exec_label(w, to->id));
        take_step(w, x, event, &step, to, view);
        PROMISE(w, str_eq(step.state, exec_state_name(x->rec.state)),
                "%s says '%.*s' about itself, and is '%.*s'", exec_label(w, to->id),
                STR_ARG(step.state), STR_ARG(exec_state_name(x->rec.state)));
        SAY(w, "kept", "%s %.*s: %.*s, token %" PRIu64 "; %.*s", exec_label(w, to->id),
            STR_ARG(step.event), STR_ARG(step.state), x->rec.token, STR_ARG(step.reason));
    }
    PROMISE(w, x->rec.state == to->state, "the steps of %s do not lead where it is",
            exec_label(w, to->id));
    PROMISE(w, x->rec.late == to->late, "%s is late in its record, or in its steps, alone",
            exec_label(w, to->id));
    PROMISE(w, x->rec.token == to->token,
            "%s has token %" PRIu64 " where its grants make it %" PRIu64, exec_label(w, to->id),
            to->token, x->rec.token);
}
