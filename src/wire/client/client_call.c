/* http_client_call: for programs without a loop of their own. */
#include "wire/client/client.h"

#include <assert.h>

struct waiting {
    const struct http_call *call; /* as the caller wrote it */
    struct http_client *client;
    struct arena *arena;
    struct http_response response;
    struct err err;
};

static void on_data(void *arg, struct str piece)
{
    struct waiting *w = arg;
    w->call->on_data(w->call->arg, piece);
    if (w->call->wants_more != NULL && !w->call->wants_more(w->call->arg))
        http_client_abort(w->client);
}

static struct str copy_or_null(struct arena *arena, struct str s)
{
    return s.ptr == NULL ? s : arena_str(arena, s);
}

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct waiting *w = arg;
    if (response == NULL) {
        w->err = *err;
    } else {
        w->response = (struct http_response){
            .status = response->status,
            .body = arena_str(w->arena, response->body),
            .content_type = copy_or_null(w->arena, response->content_type),
            .retry_after = copy_or_null(w->arena, response->retry_after),
            .headers = arena_str(w->arena, response->headers),
        };
    }
    http_client_free(w->client); /* which ends the loop: nothing else is on it */
}

enum rc http_client_call(struct str url, struct str token, const struct http_call *call,
                         struct arena *arena, struct http_response *ret_response, struct err *err)
{
    uv_loop_t loop;
    int failed = uv_loop_init(&loop);
    if (failed < 0)
        return err_set(err, RC_IO, "cannot make an event loop: %s", uv_strerror(failed));
    struct waiting w = {.call = call, .arena = arena};
    enum rc rc = http_client_new(&loop, url, token, &w.client, err);
    if (rc == RC_OK) {
        struct http_call own = *call;
        own.arg = &w;
        own.on_done = on_done;
        own.on_head = NULL; /* nothing waits here for less than all of it */
        own.on_data = call->on_data == NULL ? NULL : on_data;
        http_client_send(w.client, &own);
        uv_run(&loop, UV_RUN_DEFAULT);
        rc = w.err.rc;
        if (rc == RC_OK)
            *ret_response = w.response;
        else
            err_set(err, rc, "%s", w.err.text);
    }
    failed = uv_loop_close(&loop);
    assert(failed == 0); /* no handle is left behind */
    return rc;
}
