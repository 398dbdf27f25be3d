#include "engine/ready/worker_views.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/ready/workers.h"

#include <stdlib.h>

struct worker_view worker_view_of(const struct engine *e, const struct worker *w,
                                  struct arena *arena)
{
    struct worker_view view = {
        .worker = worker_record(w),
        .busy = w->busy,
        .silent_ms = e->boot_ms - w->v.seen_ms,
        .parked = w->v.parked != NULL,
    };
    view.worker.name = arena_str(arena, view.worker.name);
    view.worker.queues = arena_str(arena, view.worker.queues);
    view.worker.handlers = arena_str(arena, view.worker.handlers);
    view.worker.cordoned_by = arena_str(arena, view.worker.cordoned_by);
    view.worker.cordon_reason = arena_str(arena, view.worker.cordon_reason);
    return view;
}

static int by_id(const void *a, const void *b)
{
    const struct worker_view *left = a;
    const struct worker_view *right = b;
    return left->worker.id < right->worker.id ? -1 : left->worker.id > right->worker.id;
}

void decide_workers(struct engine *e, struct command *cmd)
{
    struct worker_view *views = ARENA_ARRAY(cmd->arena, struct worker_view, e->workers.len);
    size_t len = 0;
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        if (!w->v.gone)
            views[len++] = worker_view_of(e, w, cmd->arena);
    }
    if (len > 0)
        qsort(views, len, sizeof *views, by_id);
    cmd->reply.workers = views;
    cmd->reply.worker_count = len;
    command_done(e, cmd);
}

static struct worker_run run_of(const struct engine *e, const struct exec *x, struct arena *arena)
{
    return (struct worker_run){
        .exec_id = x->id,
        .job_id = x->job->id,
        .job_name = arena_str(arena, job_name(x->job)),
        .queue = arena_str(arena, x->job->v.def->rules.queue->name),
        .attempt = x->v.attempts,
        .started_ms = x->v.started_ms,
        .lease_until_ms = e->now_ms + x->v.lease.ends_ms - e->boot_ms,
        .stopping = x->v.state == EXEC_STOPPING,
    };
}

static int by_start(const void *a, const void *b)
{
    const struct worker_run *left = a;
    const struct worker_run *right = b;
    if (left->started_ms != right->started_ms)
        return left->started_ms < right->started_ms ? -1 : 1;
    return left->exec_id < right->exec_id ? -1 : left->exec_id > right->exec_id;
}

void decide_worker(struct engine *e, struct command *cmd)
{
    const struct worker *w = map_get(&e->workers, cmd->target.id);
    if (w == NULL || w->v.gone) {
        command_fail(e, cmd, RC_NOT_FOUND, "no such worker");
        return;
    }
    struct worker_view *view = ARENA_NEW(cmd->arena, struct worker_view);
    struct worker_run *runs = ARENA_ARRAY(cmd->arena, struct worker_run, w->busy);
    *view = worker_view_of(e, w, cmd->arena);
    LIST_EACH(&w->leases, node)
    runs[view->run_count++] = run_of(e, CONTAINER_OF(node, struct exec, on_worker), cmd->arena);
    if (view->run_count > 0)
        qsort(runs, view->run_count, sizeof *runs, by_start);
    view->runs = runs;
    cmd->reply.workers = view;
    cmd->reply.worker_count = 1;
    command_done(e, cmd);
}
