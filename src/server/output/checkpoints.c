#include "server/output/checkpoints.h"
#include "base/log.h"
#include "loop/clock.h"

enum {
    SWEEP_PAGE = 100,       /* some milliseconds of looking executions up */
    SWEEP_AGAIN_MS = 100,   /* when there was more */
    SWEEP_REST_MS = 600000, /* when there was not */
};

/* ---- calls */

/* The holder of the newest lease may still put: no other worker was given the execution, so the
 * next attempt has not looked yet, and what was saved late is better than what is older. */
static enum rc put(struct output_log *t, struct checkpoint_call *call, struct err *err)
{
    TRY(fence_check(t->fence, &call->name, STANDING_LATE, err));
    call->checkpoint.exec_id = call->name.exec_id;
    call->checkpoint.token = call->name.token;
    call->checkpoint.at_ms = clock_wall_ms();
    return t->logs->ops->put_checkpoint(t->logs, &call->checkpoint, err);
}

/* The next attempt may start with what it finds only while it has its lease. */
static enum rc fetch(struct output_log *t, struct request *r, struct err *err)
{
    struct checkpoint_call *call = r->checkpoint;
    TRY(fence_check(t->fence, &call->name, STANDING_HELD, err));
    enum rc rc =
        t->logs->ops->checkpoint(t->logs, call->name.exec_id, r->arena, &call->checkpoint, err);
    return rc == RC_NOT_FOUND ? RC_OK : rc; /* it is told by having no bytes */
}

static enum rc show(struct output_log *t, struct request *r, struct err *err)
{
    struct checkpoint_call *call = r->checkpoint;
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    TRY(t->reader->ops->exec(t->reader, call->name.exec_id, r->arena, &exec, &attempts, &count,
                             err));
    return t->logs->ops->checkpoint(t->logs, call->name.exec_id, r->arena, &call->checkpoint, err);
}

void checkpoints_serve(struct parcel *parcel)
{
    struct request *r = CONTAINER_OF(parcel, struct request, parcel);
    struct output_log *t = r->server->tail;
    switch (r->checkpoint->kind) {
    case CHECKPOINT_PUT: r->rc = put(t, r->checkpoint, &r->err); break;
    case CHECKPOINT_FETCH: r->rc = fetch(t, r, &r->err); break;
    case CHECKPOINT_SHOW: r->rc = show(t, r, &r->err); break;
    }
    request_send_home(r);
}

/* ---- growing old */

static bool is_over(struct output_log *t, const struct checkpoint *checkpoint, int64_t before_ms)
{
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    struct err err;
    enum rc rc = t->reader->ops->exec(t->reader, checkpoint->exec_id, &t->arena, &exec, &attempts,
                                      &count, &err);
    bool over = rc == RC_OK ? exec.state == EXEC_COMPLETED ||
                                  (exec_is_final(exec.state) && checkpoint->at_ms < before_ms)
                            : rc == RC_NOT_FOUND;
    arena_reset(&t->arena);
    return over;
}

static enum rc sweep_page(struct output_log *t, int64_t before_ms, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct checkpoint *page;
    size_t count;
    TRY(t->logs->ops->checkpoints(t->logs, t->sweep_after, SWEEP_PAGE, &arena, &page, &count, err));
    for (size_t i = 0; i < count; i++) {
        if (is_over(t, &page[i], before_ms))
            TRY(t->logs->ops->drop_checkpoint(t->logs, page[i].exec_id, err));
    }
    t->sweep_after = count == 0 ? 0 : page[count - 1].exec_id;
    return RC_OK;
}

void checkpoints_sweep(struct output_log *t)
{
    struct err err;
    struct moment now = clock_now();
    if (now.boot_ms < t->sweep_ms)
        return;
    if (tail_deletes_nothing(t, now)) {
        t->sweep_ms = now.boot_ms + DELETIONS_LOOK_MS;
        return;
    }
    int64_t before_ms = now.wall_ms - (int64_t)t->server->options->logs_keep_ms;
    if (sweep_page(t, before_ms, &err) != RC_OK) {
        log_warn("old checkpoints could not be deleted", "error", err.text, NULL);
        t->sweep_after = 0;
    }
    t->sweep_ms = clock_boot_ms() + (t->sweep_after != 0 ? SWEEP_AGAIN_MS : SWEEP_REST_MS);
}
