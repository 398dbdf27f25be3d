#include "worker/link/checkpoint_client.h"
#include "base/id.h"
#include "base/mem.h"
#include "worker/link/backoff.h"
#include "worker/link/failover_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TRIP_TIMEOUT_MS = 30000,
    REFUSALS_MAX = 8, /* with pauses of up to 2 s: a server has some ten seconds to recover */
};

struct checkpoint_client {
    struct failover_client *failover_client; /* owned */
    struct list waiting;                     /* errands, the next one first */
    struct errand *under_way;                /* NULL: none, or it was cancelled */
    bool busy;
    struct backoff backoff;
    bool closing;
};

/* ---- coming home */

static void plan(struct checkpoint_client *c)
{
    if (!c->busy && !list_empty(&c->waiting))
        backoff_in(&c->backoff, 0);
}

static void fail(struct errand *errand, int status)
{
    char why[64];
    int len = snprintf(why, sizeof(why), "the server answers with status %d", status);
    errand->on_done(errand->arg, ERRAND_FAILED, str_of(why, (size_t)len));
}

/* The server was away, which is no fault of the errand; or in trouble, perhaps because of it. */
static void try_again(struct checkpoint_client *c, struct errand *errand,
                      const struct http_response *response)
{
    if (response != NULL && ++errand->refusals >= REFUSALS_MAX)
        fail(errand, response->status);
    else
        list_push_back(&c->waiting, &errand->node);
}

static void deliver(struct errand *errand, const struct http_response *response)
{
    switch (response->status) {
    case 200: errand->on_done(errand->arg, ERRAND_DONE, response->body); break;
    case 204: errand->on_done(errand->arg, ERRAND_DONE, STR("")); break;
    case 409: errand->on_done(errand->arg, ERRAND_LOST, STR("")); break;
    default: fail(errand, response->status);
    }
}

static void on_answered(void *arg, const struct http_response *response, const struct err *err)
{
    struct checkpoint_client *c = arg;
    struct errand *errand = c->under_way;
    c->busy = false;
    c->under_way = NULL;
    if (c->closing)
        return;
    bool handled = backoff_handled(&c->backoff, response, err, STR(""));
    if (handled)
        failover_client_failed(c->failover_client);
    else
        backoff_succeeded(&c->backoff);
    if (errand != NULL && handled)
        try_again(c, errand, response);
    else if (errand != NULL)
        deliver(errand, response);
    plan(c);
}

/* ---- leaving */

static void leave(struct checkpoint_client *c, struct errand *errand, struct str body)
{
    char worker[ID_TEXT_MAX];
    char exec[ID_TEXT_MAX];
    char target[128];
    bool save = errand->kind == ERRAND_SAVE;
    id_format(worker, ID_WORKER, errand->worker_id);
    id_format(exec, ID_EXEC, errand->exec_id);
    int len = snprintf(target, sizeof(target), "/api/v1/workers/%s/checkpoints/%s?token=%" PRIu64,
                       worker, exec, errand->token);
    c->busy = true;
    c->under_way = errand;
    failover_client_send(c->failover_client,
                         &(struct http_call){
                             .method = save ? "PUT" : "GET",
                             .target = str_of(target, (size_t)len),
                             .content_type = save ? "application/octet-stream" : NULL,
                             .body = body,
                             .timeout_ms = TRIP_TIMEOUT_MS,
                             .on_done = on_answered,
                             .arg = c,
                         });
}

static void act(void *arg)
{
    struct checkpoint_client *c = arg;
    struct list_node *node;
    while (!c->busy && (node = list_pop_front(&c->waiting)) != NULL) {
        struct errand *errand = CONTAINER_OF(node, struct errand, node);
        CLEANUP(buf_free) struct buf body = BUF(errand->bytes_max);
        if (errand->kind == ERRAND_FETCH || errand->fill(errand->arg, &body))
            leave(c, errand, buf_str(&body));
        else
            errand->on_done(errand->arg, ERRAND_DONE, STR(""));
    }
}

/* ---- the public face */

enum rc checkpoint_client_new(uv_loop_t *loop, struct str url, struct str token,
                              struct checkpoint_client **ret_courier, struct err *err)
{
    struct failover_client *failover_client;
    TRY(failover_client_new(loop, url, token, &failover_client, err));
    struct checkpoint_client *c = MEM_NEW(struct checkpoint_client);
    c->failover_client = failover_client;
    list_init(&c->waiting);
    backoff_init(&c->backoff, loop, act, c);
    c->backoff.quiet = true; /* the poller talks to the same server, and says how it is */
    *ret_courier = c;
    return RC_OK;
}

struct failover_client *checkpoint_client_link(struct checkpoint_client *c)
{
    return c->failover_client;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void checkpoint_client_free(struct checkpoint_client *c)
{
    if (c == NULL)
        return;
    c->closing = true;
    while (list_pop_front(&c->waiting) != NULL) {
    }
    failover_client_free(c->failover_client);
    backoff_close(&c->backoff, on_closed, c);
}

void checkpoint_client_send(struct checkpoint_client *c, struct errand *errand)
{
    errand->refusals = 0;
    list_push_back(&c->waiting, &errand->node);
    plan(c);
}

void checkpoint_client_cancel(struct checkpoint_client *c, struct errand *errand)
{
    if (c->under_way == errand)
        c->under_way = NULL;
    else
        list_remove(&errand->node);
}
