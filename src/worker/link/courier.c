#include "worker/link/courier.h"
#include "base/id.h"
#include "base/mem.h"
#include "worker/link/outlet.h"
#include "worker/link/pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TRIP_TIMEOUT_MS = 30000,
    REFUSALS_MAX = 8, /* with pauses of up to 2 s: a server has some ten seconds to recover */
};

struct courier {
    struct outlet *outlet;    /* owned */
    struct list waiting;      /* errands, the next one first */
    struct errand *under_way; /* NULL: none, or it was cancelled */
    bool busy;
    struct pace pace;
    bool closing;
};

/* ---- coming home */

static void plan(struct courier *c)
{
    if (!c->busy && !list_empty(&c->waiting))
        pace_in(&c->pace, 0);
}

static void fail(struct errand *errand, int status)
{
    char why[64];
    int len = snprintf(why, sizeof(why), "the server answers with status %d", status);
    errand->on_done(errand->arg, ERRAND_FAILED, str_of(why, (size_t)len));
}

/* The server was away, which is no fault of the errand; or in trouble, perhaps because of it. */
static void try_again(struct courier *c, struct errand *errand,
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
    struct courier *c = arg;
    struct errand *errand = c->under_way;
    c->busy = false;
    c->under_way = NULL;
    if (c->closing)
        return;
    bool handled = pace_handled(&c->pace, response, err, STR(""));
    if (handled)
        outlet_failed(c->outlet);
    else
        pace_succeeded(&c->pace);
    if (errand != NULL && handled)
        try_again(c, errand, response);
    else if (errand != NULL)
        deliver(errand, response);
    plan(c);
}

/* ---- leaving */

static void leave(struct courier *c, struct errand *errand, struct str body)
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
    outlet_send(c->outlet, &(struct http_call){
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
    struct courier *c = arg;
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

enum rc courier_new(uv_loop_t *loop, struct str url, struct str token, struct courier **ret_courier,
                    struct err *err)
{
    struct outlet *outlet;
    TRY(outlet_new(loop, url, token, &outlet, err));
    struct courier *c = MEM_NEW(struct courier);
    c->outlet = outlet;
    list_init(&c->waiting);
    pace_init(&c->pace, loop, act, c);
    c->pace.quiet = true; /* the poller talks to the same server, and says how it is */
    *ret_courier = c;
    return RC_OK;
}

struct outlet *courier_outlet(struct courier *c)
{
    return c->outlet;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void courier_free(struct courier *c)
{
    if (c == NULL)
        return;
    c->closing = true;
    while (list_pop_front(&c->waiting) != NULL) {
    }
    outlet_free(c->outlet);
    pace_close(&c->pace, on_closed, c);
}

void courier_send(struct courier *c, struct errand *errand)
{
    errand->refusals = 0;
    list_push_back(&c->waiting, &errand->node);
    plan(c);
}

void courier_cancel(struct courier *c, struct errand *errand)
{
    if (c->under_way == errand)
        c->under_way = NULL;
    else
        list_remove(&errand->node);
}
