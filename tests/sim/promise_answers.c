/* promise_answers.c - what a server says is what was kept. */
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

/* ---- submissions */

static bool asks_for_name(const struct world *w, const struct command *cmd, struct str name,
                          const struct submission *but)
{
    for (size_t i = 0; cmd->kind == CMD_SUBMIT && i < cmd->submit.count; i++) {
        if (&cmd->submit.items[i] != but && str_eq(cmd->submit.items[i].name, name))
            return true;
    }
    bool again = cmd->kind == CMD_RETRY_EXEC || cmd->kind == CMD_RETRY_LETTER;
    const struct model_exec *x = again ? model_exec(&w->model, cmd->target.id) : NULL;
    return x != NULL && str_eq(x->job->rec.name, name);
}

/* Held when the turn began, or taken in it, be it for something that was refused afterwards. */
static bool name_was_held(const struct world *w, const struct submission *item)
{
    const struct turn_view *view = w->door->view;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        if (str_eq(x->job->rec.name, item->name) &&
            (!exec_is_final(x->rec.state) || x->changed_turn >= view->turn))
            return true;
    }
    for (size_t i = 0; i < view->count; i++) {
        if (asks_for_name(w, view->commands[i], item->name, item))
            return true;
    }
    return operations_run(&w->model); /* it may have asked for one that was to run again */
}

static bool is_stored(struct world *w, uint64_t job_id)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct job_rec job;
    struct err err;
    return w->reader->ops->job(w->reader, job_id, &arena, &job, &err) == RC_OK;
}

static void check_submission(struct world *w, const struct submission *item)
{
    size_t no = wish_no(item);
    struct wish *wish = &w->model.wishes.items[no];
    if (item->rc != RC_OK) {
        SAY(w, "answer", "j%zu is refused: %s", no, item->err->text);
        PROMISE(w, wish->job_id == 0, "j%zu was refused, and kept", no);
        if (item->rc == RC_CONFLICT && item->name.len > 0)
            saw(SAW_NAME_IN_USE);
        PROMISE(w,
                item->rc != RC_CONFLICT || (item->name.len > 0 && name_was_held(w, item)) ||
                    duplicates_was_held(w, item),
                "j%zu was refused for its name '%.*s' or its key '%.*s', which no unfinished job "
                "has",
                no, STR_ARG(item->name), STR_ARG(item->rules.unique.key));
        duplicates_check_refusal(w, item);
        if (item->rc == RC_LIMITED)
            queues_check_limited(w);
        return;
    }
    if (item->once.replayed) {
        SAY(w, "answer", "j%zu is answered as before", no);
        duplicates_check_replay(w, item);
        return;
    }
    if (item->existing) {
        SAY(w, "answer", "j%zu is there already as %s", no, job_label(w, item->job_id));
        duplicates_check_existing(w, item);
        return;
    }
    SAY(w, "answer", "j%zu is acknowledged", no);
    PROMISE(w, wish->job_id == item->job_id && model_exec(&w->model, item->exec_id) != NULL,
            "j%zu was acknowledged, but never kept", no);
    PROMISE(w, is_stored(w, item->job_id), "j%zu was acknowledged, but is not in the store", no);
    wish->acknowledged = true;
    const struct exec_rec *exec = &model_exec(&w->model, item->exec_id)->rec;
    PROMISE(w,
            item->created_ms == exec->created_ms &&
                item->due_ms == model_due_ms(model_exec(&w->model, item->exec_id)),
            "j%zu was promised for a moment that was not kept", no);
}

void promise_refused(struct world *w, const struct command *cmd)
{
    if (cmd->kind == CMD_EDIT_JOB)
        PROMISE(w, w->model.wishes.items[edit_no(cmd)].job_id == 0,
                "an edit was refused with its turn, and kept");
    for (size_t i = 0; cmd->kind == CMD_SUBMIT && i < cmd->submit.count; i++) {
        size_t no = wish_no(&cmd->submit.items[i]);
        PROMISE(w, w->model.wishes.items[no].job_id == 0,
                "j%zu was refused with its turn, and kept", no);
    }
}

/* All of them are refused with a command that the store refuses. */
static void check_submit(struct world *w, const struct command *cmd)
{
    if (cmd->reply.rc != RC_OK) {
        promise_refused(w, cmd);
        return;
    }
    for (size_t i = 0; i < cmd->submit.count; i++)
        check_submission(w, &cmd->submit.items[i]);
    for (size_t i = 0; cmd->submit.estimate && i < cmd->submit.count; i++)
        promise_estimate_of_new(w, &cmd->submit.items[i]);
}

/* ---- cancelling and running again */

static void check_cancelled(struct world *w, struct model_exec *x)
{
    PROMISE(w, x != NULL, "something was cancelled that is not there");
    SAY(w, "answer", "%s is cancelled", exec_label(w, x->rec.id));
    PROMISE(w, x->rec.state == EXEC_STOPPING || x->rec.state == EXEC_CANCELLED,
            "somebody was told that %s is cancelled, and it is %.*s", exec_label(w, x->rec.id),
            STR_ARG(exec_state_name(x->rec.state)));
    x->cancelled = true;
}

static void check_all_cancelled(struct world *w, const struct model_job *job)
{
    for (size_t i = 0; i < job->execs.len; i++) {
        if (!exec_is_final(job->execs.items[i]->rec.state))
            check_cancelled(w, job->execs.items[i]);
    }
}

static void check_cancel_job(struct world *w, const struct command *cmd)
{
    const struct model_job *job = model_job(&w->model, cmd->target.id);
    bool recurs = job != NULL && job->schedule != NULL;
    struct model_exec *x = job == NULL ? NULL : model_exec(&w->model, job->rec.last_exec);
    bool run_again = x != NULL && x->rec.retry_of != 0 && x->born_turn == w->model.turn;
    bool forgotten = x == NULL && job != NULL && map_get(&w->model.exec_by_id, job->rec.last_exec);
    bool skipped = x != NULL && (x->rec.state == EXEC_SKIPPED ||
                                 x->rec.state == EXEC_EXPIRED); /* its job is cancelled already */
    if (cmd->reply.rc == RC_OK && recurs)
        check_all_cancelled(w, job);
    else if (cmd->reply.rc == RC_OK && !skipped && !forgotten && /* over, and older than the rest */
             !run_again) /* cancelled long ago, and asked to run again since */
        check_cancelled(w, x);
    PROMISE(w,
            cmd->reply.rc != RC_OK ||
                (cmd->reply.job_id == cmd->target.id && cmd->reply.job_state == JOB_CANCELLED),
            "the answer about %s speaks of something else", job_label(w, cmd->target.id));
    PROMISE(w, (cmd->reply.rc == RC_NOT_FOUND) == (job == NULL),
            "a job that should be there was not found, or the other way round");
}

static void check_cancel_exec(struct world *w, const struct command *cmd)
{
    struct model_exec *x = model_exec(&w->model, cmd->target.id);
    if (cmd->reply.rc == RC_OK) {
        check_cancelled(w, x);
        PROMISE(
            w,
            cmd->reply.exec_id == x->rec.id && cmd->reply.job_id == x->rec.job_id &&
                (cmd->reply.exec_state == EXEC_STOPPING || cmd->reply.exec_state == EXEC_CANCELLED),
            "the answer about %s speaks of something else", exec_label(w, x->rec.id));
    }
    if (cmd->reply.rc == RC_CONFLICT)
        PROMISE(w, x != NULL && exec_is_final(x->rec.state), "%s was called ended, and is not",
                exec_label(w, cmd->target.id));
    PROMISE(w, (cmd->reply.rc == RC_NOT_FOUND) == (x == NULL),
            "an execution that should be there was not found, or the other way round");
}

static void check_letter(struct world *w, const struct command *cmd)
{
    const struct model_exec *x = model_exec(&w->model, cmd->target.id);
    PROMISE(w, cmd->reply.rc != RC_OK || (x != NULL && !x->is_letter),
            "%s was to leave the dead letters, somebody was told, and it is still there",
            exec_label(w, cmd->target.id));
    bool fresh =
        x != NULL && x->changed_turn >= w->door->view->turn; /* perhaps after the question */
    PROMISE(w, cmd->reply.rc != RC_NOT_FOUND || x == NULL || !x->is_letter || cmd->own || fresh,
            "%s is a dead letter, and was not found", exec_label(w, cmd->target.id));
}

static void check_operation(struct world *w, const struct command *cmd)
{
    if (cmd->reply.rc == RC_OK)
        PROMISE(w, operations_know(&w->model, cmd->reply.operation_id),
                "an operation was promised, and not kept");
}

/* As many wait behind what the job still does as may, or did so until something in this turn ended. */
static bool is_full(const struct world *w, const struct model_job *job)
{
    size_t count = 0;
    for (size_t i = 0; i < job->execs.len; i++) {
        const struct model_exec *x = job->execs.items[i];
        count += x->rec.state == EXEC_BLOCKED ||
                 (x->changed_turn == w->model.turn && x->born_turn != w->model.turn);
    }
    return count >= SPEC_OVERLAP_QUEUE_MAX;
}

static void check_run_again(struct world *w, const struct command *cmd)
{
    const struct model_exec *x = model_exec(&w->model, cmd->reply.exec_id);
    if (cmd->reply.rc != RC_OK)
        return;
    SAY(w, "answer", "%s runs again as %s", exec_label(w, cmd->target.id),
        exec_label(w, cmd->reply.exec_id));
    const struct model_job *job = model_job(&w->model, cmd->reply.job_id);
    bool may_wait = cmd->reply.exec_state == EXEC_BLOCKED && job->schedule != NULL;
    may_wait |= (w->cluster || is_full(w, job)) && cmd->reply.exec_state == EXEC_SKIPPED &&
                job->schedule != NULL;
    PROMISE(
        w, (cmd->reply.exec_state == EXEC_QUEUED || may_wait) && !job_is_over(cmd->reply.job_state),
        "%s runs again, and the answer says otherwise", exec_label(w, cmd->target.id));
    PROMISE(w, x != NULL && x->rec.retry_of == cmd->target.id,
            "%s runs again, somebody was told, but that was not kept",
            exec_label(w, cmd->target.id));
    const struct model_exec *old = map_get(&w->model.exec_by_id, cmd->target.id);
    PROMISE(w, str_eq(x->payload, cmd->target.payload.len > 0 ? cmd->target.payload : old->payload),
            "%s runs again with another payload than it should", exec_label(w, cmd->target.id));
    PROMISE(w, str_eq(x->trace, cmd->trace), "%s runs again in another trace than it should",
            exec_label(w, cmd->target.id));
}

/* ---- when things run */

/* Nobody else decided about the same thing in this turn. */
static bool is_alone(const struct world *w, const struct command *cmd)
{
    const struct turn_view *view = w->door->view;
    for (size_t i = 0; i < view->count; i++) {
        const struct command *other = view->commands[i];
        if (other == cmd)
            continue;
        if (cmd->kind == CMD_QUEUE || cmd->kind == CMD_TEAM
                ? other->kind == cmd->kind
                : other->kind == CMD_PAUSE_JOB || other->kind == CMD_RESUME_JOB)
            return false;
    }
    return !operations_run(&w->model);
}

static void check_paused(struct world *w, const struct command *cmd, enum job_state want)
{
    const struct model_job *job = model_job(&w->model, cmd->target.id);
    PROMISE(w, (cmd->reply.rc == RC_NOT_FOUND) == (job == NULL),
            "a job that should be there was not found, or the other way round");
    if (cmd->reply.rc != RC_OK)
        return;
    SAY(w, "answer", "%s is %.*s", job_label(w, cmd->target.id), STR_ARG(job_state_name(want)));
    PROMISE(w, cmd->reply.job_id == job->rec.id && cmd->reply.job_state == want,
            "the answer about %s speaks of something else", job_label(w, cmd->target.id));
    PROMISE(w, job->rec.state == want || job_is_over(job->rec.state) || !is_alone(w, cmd),
            "somebody was told that %s is %.*s, and it is %.*s", job_label(w, cmd->target.id),
            STR_ARG(job_state_name(want)), STR_ARG(job_state_name(job->rec.state)));
}

static void check_triggered(struct world *w, const struct command *cmd)
{
    const struct model_exec *x = model_exec(&w->model, cmd->reply.exec_id);
    if (cmd->reply.rc != RC_OK)
        return;
    SAY(w, "answer", "%s runs now", exec_label(w, cmd->reply.exec_id));
    PROMISE(w,
            x != NULL && x->rec.job_id == cmd->target.id && x->rec.state != EXEC_SCHEDULED &&
                (!model_recurs(x) || x->rec.origin == ORIGIN_REQUEST),
            "a run of %s was promised for now, and not kept", job_label(w, cmd->target.id));
    PROMISE(w, str_eq(x->payload, cmd->target.payload),
            "%s was asked for with another payload than it has", exec_label(w, cmd->reply.exec_id));
    PROMISE(w, x->rec.origin != ORIGIN_REQUEST || str_eq(x->trace, cmd->trace),
            "%s was asked for in another trace than it is in", exec_label(w, cmd->reply.exec_id));
}

static void check_edited(struct world *w, const struct command *cmd)
{
    const struct model_job *job = model_job(&w->model, cmd->edit.id);
    const struct wish *wish = &w->model.wishes.items[edit_no(cmd)];
    enum rc rc = cmd->reply.rc;
    PROMISE(w, (rc == RC_NOT_FOUND) == (job == NULL),
            "a job that should be there was not found, or the other way round");
    PROMISE(w, (rc == RC_OK) == (wish->job_id != 0), "%s was edited, and the answer says otherwise",
            job_label(w, cmd->edit.id));
    if (rc == RC_OK) {
        SAY(w, "answer", "%s has version %" PRIu32, job_label(w, job->rec.id), cmd->reply.version);
        PROMISE(w,
                cmd->reply.version == cmd->edit.version + 1 &&
                    job->rec.version >= cmd->reply.version,
                "%s was edited, and has another version", job_label(w, job->rec.id));
    }
    PROMISE(w, rc != RC_STALE || job->rec.version != cmd->edit.version,
            "an edit of the newest version of %s was refused as old", job_label(w, cmd->edit.id));
}

/* Somebody was told that a run has more time. */
static void check_extended(struct world *w, const struct command *cmd)
{
    const struct model_exec *x = model_exec(&w->model, cmd->reply.exec_id);
    if (cmd->reply.rc != RC_OK)
        return;
    PROMISE(w,
            x != NULL && x->rec.job_id == cmd->target.id &&
                x->rec.sla_extra_ms >= cmd->reply.sla.extended_ms,
            "somebody was told that %s has more time, and that was not kept",
            job_label(w, cmd->target.id));
}

static void check_view(struct world *w, const struct queue_view *view)
{
    struct queue_rec kept = model_queue(&w->model, view->queue.name);
    PROMISE(w,
            view->queue.paused == kept.paused && view->queue.concurrency == kept.concurrency &&
                view->queue.paused_ms == kept.paused_ms &&
                view->queue.changed_ms == kept.changed_ms &&
                str_eq(view->queue.paused_by, kept.paused_by),
            "%.*s is shown as it was not kept", STR_ARG(kept.name));
}

/* Nobody else decided about it, and nothing was kept beside. */
static void check_deleted(struct world *w, const struct command *cmd, bool kept_nothing)
{
    struct str name = cmd->queue.name;
    struct queue_rec kept = model_queue(&w->model, name);
    bool needed = model_queue_needed(&w->model, name);
    if (cmd->reply.rc == RC_OK)
        PROMISE(w, !is_alone(w, cmd) || kept.changed_ms == 0,
                "%.*s was deleted, and what was decided about it is still there", STR_ARG(name));
    else if (kept_nothing && !w->cluster)
        PROMISE(w, cmd->reply.rc == RC_BUSY || needed == (cmd->reply.rc == RC_CONFLICT),
                "%.*s was not deleted, for no reason", STR_ARG(name));
}

static void check_queue(struct world *w, const struct command *cmd, bool kept_nothing)
{
    const struct queue_wish *wish = &cmd->queue;
    if (wish->forget)
        check_deleted(w, cmd, kept_nothing);
    if (cmd->reply.rc == RC_LIMITED)
        queues_check_limited(w);
    if (cmd->reply.rc != RC_OK || wish->forget)
        return;
    const struct queue_view *view = &cmd->reply.queues[0];
    PROMISE(w,
            str_eq(view->queue.name, wish->name) &&
                (wish->run == QUEUE_LEAVE || view->queue.paused == (wish->run == QUEUE_PAUSE)) &&
                (!wish->set_concurrency || view->queue.concurrency == wish->concurrency),
            "%.*s was changed otherwise than was asked for", STR_ARG(wish->name));
    if (is_alone(w, cmd) && model_settings_known(w, w->door->view->now.boot_ms))
        check_view(w, view);
}

static void check_queues(struct world *w, const struct command *cmd)
{
    for (size_t i = 0; i < cmd->reply.queue_count; i++) {
        const struct queue_view *view = &cmd->reply.queues[i];
        check_view(w, view);
        PROMISE(w, view->running == model_queue_leases(&w->model, view->queue.name),
                "%.*s shows %" PRIu32 " leases, and has %zu", STR_ARG(view->queue.name),
                view->running, model_queue_leases(&w->model, view->queue.name));
    }
}

static void check_team(struct world *w, const struct command *cmd)
{
    const struct team_wish *wish = &cmd->team;
    if (cmd->reply.rc != RC_OK)
        return;
    const struct team_view *view = &cmd->reply.teams[0];
    struct team_rec kept = model_team(&w->model, wish->name);
    PROMISE(w,
            str_eq(view->team.name, wish->name) &&
                (!wish->set_concurrency || view->team.concurrency == wish->concurrency),
            "team %.*s was changed otherwise than was asked for", STR_ARG(wish->name));
    bool known = is_alone(w, cmd) && model_settings_known(w, w->door->view->now.boot_ms);
    PROMISE(w,
            !known || (view->team.concurrency == kept.concurrency &&
                       view->team.changed_ms == kept.changed_ms),
            "team %.*s is shown as it was not kept", STR_ARG(wish->name));
}

static void check_teams(struct world *w, const struct command *cmd)
{
    for (size_t i = 0; i < cmd->reply.team_count; i++) {
        const struct team_view *view = &cmd->reply.teams[i];
        PROMISE(w,
                view->team.concurrency == model_team(&w->model, view->team.name).concurrency &&
                    view->running == model_team_leases(&w->model, view->team.name),
                "team %.*s is shown as it is not", STR_ARG(view->team.name));
    }
}

/* ---- looking */

static int64_t count_kept(const struct world *w, const struct counter *counter)
{
    const struct model *m = &w->model;
    int64_t count = 0;
    for (size_t i = 0; counter->kind == COUNTER_JOBS && i < m->jobs.len; i++)
        count += m->jobs.items[i]->rec.state == counter->state &&
                 str_eq(m->jobs.items[i]->rec.queue, counter->queue);
    for (size_t i = 0; counter->kind == COUNTER_EXECS && i < m->execs.len; i++)
        count += m->execs.items[i]->rec.state == counter->state &&
                 str_eq(m->execs.items[i]->rec.queue, counter->queue);
    for (size_t i = 0; counter->kind == COUNTER_LETTERS && i < m->execs.len; i++)
        count += m->execs.items[i]->is_letter && m->execs.items[i]->rec.state == counter->state &&
                 str_eq(m->execs.items[i]->rec.queue, counter->queue);
    return count;
}

static size_t letters_kept(const struct model *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->execs.len; i++)
        count += m->execs.items[i]->is_letter;
    return count;
}

static void check_sums(struct world *w, const struct stats_view *stats)
{
    size_t slots = 0;
    size_t busy = 0;
    for (size_t i = 0; i < w->model.workers.len; i++) {
        const struct model_worker *worker = w->model.workers.items[i];
        if (worker->forgotten)
            continue;
        slots += worker->rec.slots;
        busy += model_leases(&w->model, worker->rec.id);
    }
    PROMISE(w,
            stats->slots == slots && stats->busy == busy &&
                stats->worker_count == promise_workers_known(w),
            "%zu of %zu slots are counted as busy, and %zu of %zu are", stats->busy, stats->slots,
            busy, slots);
}

/* It counts with its queue until that is forgotten, then with all that are. */
static bool is_of_past(const struct counter *counter)
{
    return counter->kind == COUNTER_JOBS    ? job_is_over((enum job_state)counter->state)
           : counter->kind == COUNTER_EXECS ? exec_is_final((enum exec_state)counter->state)
                                            : false;
}

/* Numbers are as of the last commit; the turn that carries the question may have changed them. The
 * simulated clients therefore look in turns that keep nothing (see check_answer). */
static void check_stats(struct world *w, const struct command *cmd)
{
    int64_t total = 0;
    for (size_t i = 0; i < cmd->reply.stats.counter_count; i++) {
        const struct counter *counter = &cmd->reply.stats.counters[i];
        PROMISE(w,
                counter->value == count_kept(w, counter) ||
                    (is_of_past(counter) &&
                     (counter->queue.len == 0 || counter->value < count_kept(w, counter))),
                "%.*s: %" PRId64 " %s in state %" PRIu32 " are counted, and there are %" PRId64,
                STR_ARG(counter->queue), counter->value,
                counter->kind == COUNTER_JOBS ? "jobs" : "executions", counter->state,
                count_kept(w, counter));
        total += counter->value;
    }
    PROMISE(w, total == (int64_t)(w->model.jobs.len + w->model.execs.len + letters_kept(&w->model)),
            "the numbers leave something out");
    check_sums(w, &cmd->reply.stats);
}

/* It runs as far as the record says, but nobody has heard that from its worker. */
static bool is_unheard(const struct explanation *why)
{
    return why->blocker_count == 1 && why->blockers[0].kind == BLOCKER_UNHEARD;
}

/* Whatever does not run has a reason, and what runs has none but being told to stop. What is ready
 * may have none for a moment: a worker with a free slot is between two polls. */
static void check_explained(struct world *w, const struct command *cmd)
{
    const struct model_exec *x = model_exec(&w->model, cmd->target.id);
    if (cmd->reply.rc != RC_OK)
        return;
    PROMISE(w, x != NULL && x->rec.state == cmd->reply.exec_state,
            "%s is explained as what it is not", exec_label(w, cmd->target.id));
    promise_estimate(w, x, &cmd->reply.explanation->estimate);
    if (x->rec.state == EXEC_QUEUED)
        return;
    const struct explanation *why = cmd->reply.explanation;
    PROMISE(w, (x->rec.state == EXEC_RUNNING) == (why->blocker_count == 0 || is_unheard(why)),
            "nobody can say why %s does not run, or why it should not",
            exec_label(w, cmd->target.id));
}

static void check_fence(struct world *w, const struct command *cmd)
{
    const struct model_exec *x = model_exec(&w->model, cmd->target.id);
    bool owns = x != NULL && x->rec.state == EXEC_RUNNING && x->rec.token == cmd->target.seq;
    PROMISE(w, owns == (cmd->reply.rc == RC_OK), "a token of %s was told the wrong thing",
            exec_label(w, cmd->target.id));
}

static void check_answer(struct world *w, const struct command *cmd, bool kept_nothing)
{
    saw_answer(cmd);
    switch (cmd->kind) {
    case CMD_SUBMIT: check_submit(w, cmd); break;
    case CMD_CANCEL_JOB: check_cancel_job(w, cmd); break;
    case CMD_CANCEL_EXEC: check_cancel_exec(w, cmd); break;
    case CMD_RETRY_EXEC: check_run_again(w, cmd); break;
    case CMD_RETRY_LETTER:
        check_run_again(w, cmd);
        check_letter(w, cmd);
        break;
    case CMD_DISCARD_LETTER: check_letter(w, cmd); break;
    case CMD_OPERATE: check_operation(w, cmd); break;
    case CMD_PAUSE_JOB: check_paused(w, cmd, JOB_PAUSED); break;
    case CMD_RESUME_JOB: check_paused(w, cmd, JOB_ACTIVE); break;
    case CMD_TRIGGER_JOB: check_triggered(w, cmd); break;
    case CMD_EDIT_JOB: check_edited(w, cmd); break;
    case CMD_EXTEND_SLA: check_extended(w, cmd); break;
    case CMD_QUEUE: check_queue(w, cmd, kept_nothing); break;
    case CMD_TEAM: check_team(w, cmd); break;
    case CMD_CALENDAR: calendars_check_answer(w, cmd, kept_nothing); break;
    case CMD_POLL: promise_poll(w, cmd); break;
    case CMD_FENCE:
        if (kept_nothing)
            check_fence(w, cmd);
        break;
    case CMD_REGISTER:
    case CMD_WORKERS:
    case CMD_WORKER:
    case CMD_CORDON:
    case CMD_UNCORDON: promise_workers(w, cmd, kept_nothing); break;
    case CMD_QUEUES:
        if (kept_nothing && !w->cluster)
            check_queues(w, cmd);
        break;
    case CMD_TEAMS:
        if (kept_nothing && !w->cluster)
            check_teams(w, cmd);
        break;
    case CMD_STATS:
        if (kept_nothing && !w->cluster)
            check_stats(w, cmd);
        break;
    case CMD_EXPLAIN_EXEC:
        if (kept_nothing)
            check_explained(w, cmd);
        break;
    default: break;
    }
}

void promise_answers(struct world *w, struct sim_server *s, const struct list *done)
{
    (void)s;
    bool kept_nothing = !w->door->kept;
    LIST_EACH(done, node)
    check_answer(w, CONTAINER_OF(node, struct command, node), kept_nothing);
}
