/* promise_workers.c - answers about workers say what was kept. */
#include "promises.h"
#include "world.h"

#include <inttypes.h>

size_t promise_workers_known(const struct world *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->model.workers.len; i++)
        count += !w->model.workers.items[i]->forgotten;
    return count;
}

static void check_registered(struct world *w, const struct command *cmd)
{
    PROMISE(w, model_worker(&w->model, cmd->reply.worker_id) != NULL,
            "a worker was registered, and not kept");
}

static void check_workers(struct world *w, const struct command *cmd)
{
    PROMISE(w, cmd->reply.worker_count == promise_workers_known(w),
            "%zu workers are listed, %zu are known", cmd->reply.worker_count,
            promise_workers_known(w));
    for (size_t i = 0; i < cmd->reply.worker_count; i++) {
        const struct worker_view *view = &cmd->reply.workers[i];
        const struct model_worker *known = model_worker(&w->model, view->worker.id);
        PROMISE(w,
                known != NULL && str_eq(view->worker.name, known->rec.name) &&
                    str_eq(view->worker.queues, known->rec.queues) &&
                    str_eq(view->worker.handlers, known->rec.handlers) &&
                    view->worker.slots == known->rec.slots &&
                    view->worker.cordoned_ms == known->rec.cordoned_ms &&
                    view->busy == model_leases(&w->model, known->rec.id),
                "a worker is listed as it never was");
    }
}

static void check_cordoned(struct world *w, const struct command *cmd)
{
    bool refused = cmd->reply.rc != RC_OK;
    PROMISE(w,
            refused || (cmd->reply.workers[0].worker.cordoned_ms > 0) == (cmd->kind == CMD_CORDON),
            "a worker was answered to be the opposite of what was asked for");
}

/* Of what is decided elsewhere it says nothing. */
static void check_shown(struct world *w, const struct command *cmd)
{
    const struct worker_view *view = cmd->reply.workers;
    if (cmd->reply.rc != RC_OK)
        return;
    PROMISE(w, view->run_count == view->busy,
            "a worker is shown with %zu runs and %" PRIu32 " slots in use", view->run_count,
            view->busy);
    for (size_t i = 0; i < view->run_count; i++) {
        const struct model_exec *x = model_exec(&w->model, view->runs[i].exec_id);
        PROMISE(
            w,
            x != NULL && x->rec.worker_id == view->worker.id && exec_is_leased(x->rec.state) &&
                x->rec.job_id == view->runs[i].job_id && x->rec.attempts == view->runs[i].attempt,
            "%s is shown with a worker that does not run it", exec_label(w, view->runs[i].exec_id));
    }
}

void promise_workers(struct world *w, const struct command *cmd, bool kept_nothing)
{
    switch (cmd->kind) {
    case CMD_REGISTER: check_registered(w, cmd); break;
    case CMD_CORDON:
    case CMD_UNCORDON: check_cordoned(w, cmd); break;
    case CMD_WORKER:
        if (kept_nothing)
            check_shown(w, cmd);
        break;
    default:
        if (kept_nothing && !w->cluster) /* a server of many tells its part of these */
            check_workers(w, cmd);
    }
}
