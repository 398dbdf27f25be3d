#include "worker/run/handler.h"
#include "base/mem.h"
#include "wire/spec/spec_json.h"
#include "worker/link/session.h"

#include <stdlib.h>

struct handler_worker {
    struct handler_options options; /* its texts are not used after the start */
    struct session *session;
};

static void on_lease(void *arg, const struct poll_lease *lease, int64_t deadline_ms)
{
    (void)deadline_ms; /* on_lost tells when it has come */
    struct handler_worker *w = arg;
    enum outcome outcome = w->options.on_call(w->options.arg, lease);
    if (outcome == OUTCOME_NONE)
        return;
    session_done(w->session, &(struct poll_result){
                                 .exec_id = lease->exec_id,
                                 .token = lease->token,
                                 .outcome = outcome,
                                 .usage = {.exit_code = -1},
                             });
}

static void on_stop(void *arg, uint64_t exec_id, uint64_t token, struct str reason)
{
    struct handler_worker *w = arg;
    if (w->options.on_stop != NULL)
        w->options.on_stop(w->options.arg, exec_id, token, reason);
}

static void on_lost(void *arg, uint64_t exec_id, uint64_t token)
{
    on_stop(arg, exec_id, token, STR("the lease could not be renewed in time"));
}

static void on_drain(void *arg)
{
    handler_worker_drain(arg);
}

static void on_drained(void *arg)
{
    struct handler_worker *w = arg;
    if (w->options.on_drained != NULL)
        w->options.on_drained(w->options.arg);
}

enum rc handler_worker_new(uv_loop_t *loop, const struct handler_options *options,
                           struct handler_worker **ret_worker, struct err *err)
{
    struct handler_worker *w = MEM_NEW(struct handler_worker);
    struct session_options session = {
        .urls = options->url,
        .token = options->token,
        .hello =
            {
                .name = options->name,
                .queues = options->queues,
                .queue_count = options->queue_count,
                .handlers = options->handlers,
                .handler_count = options->handler_count,
                .slots = options->slots,
            },
        .events =
            {
                .on_lease = on_lease,
                .on_stop = on_stop,
                .on_lost = on_lost,
                .on_drain = on_drain,
                .on_drained = on_drained,
                .arg = w,
            },
    };
    w->options = *options;
    if (session_new(loop, &session, &w->session, err)) {
        free(w);
        return err->rc;
    }
    *ret_worker = w;
    return RC_OK;
}

void handler_worker_free(struct handler_worker *w)
{
    if (w == NULL)
        return;
    session_free(w->session); /* calls nobody back from here on */
    free(w);
}

void handler_worker_drain(struct handler_worker *w)
{
    session_drain(w->session);
}

void handler_done(struct handler_worker *w, const struct poll_result *result)
{
    session_done(w->session, result);
}

struct str handler_name(const struct poll_lease *lease, struct arena *arena)
{
    struct spec spec;
    return spec_read(lease->spec, arena, &spec, NULL) == RC_OK ? spec.handler : (struct str){0};
}
