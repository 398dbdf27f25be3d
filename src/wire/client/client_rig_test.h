/* client_rig_test.h - for tests: the client and a real server, on one loop.
 *
 * The handler answers with the body it got; /busy, /park and /stream do what they say. What the
 * server saw is in `asked`, what the caller was told in `heard`. */
#pragma once
#include "base/mem.h"
#include "base/test/test.h"
#include "wire/client/client.h"
#include "wire/http/http.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct http_limits limits = {
    .head_bytes_max = 1024,
    .target_bytes_max = 256,
    .body_bytes_max = 4 << 20,
    .connections_max = 10,
    .stream_bytes_max = 1 << 20,
    .head_timeout_ms = 60000,
    .body_timeout_ms = 60000,
    .idle_timeout_ms = 60000,
};

/* What the caller has heard, all calls together. */
struct heard {
    size_t done; /* calls that ended */
    int status;  /* of the last one; 0: it failed, see err */
    struct err err;
    struct buf body;
    struct buf pieces;
    size_t heads; /* that came before any of the body */
    char content_type[64];
    char retry_after[64];
};

struct rig {
    uv_loop_t loop;
    struct http_server *server;
    uint16_t port;
    struct http_client *client;
    struct http_request *parked;
    struct buf asked; /* one line for each request the server saw */
    struct heard heard;
};

/* ---- the server */

static inline void note_request(struct rig *rig, struct http_request *req)
{
    struct str token = http_request_header(req, STR("Authorization"));
    struct str last = http_request_header(req, STR("Last-Event-ID"));
    buf_printf(&rig->asked, "%s %.*s [%.*s] %.*s\n", http_method_name(req->method),
               STR_ARG(req->path), STR_ARG(token), STR_ARG(last));
}

static inline void handle(void *arg, struct http_request *req)
{
    struct rig *rig = arg;
    note_request(rig, req);
    struct http_header later = {STR("Retry-After"), STR("7")};
    struct http_answer ok = {.status = 200, .content_type = "text/plain", .body = req->body};
    struct http_answer busy = {.status = 503, .headers = &later, .header_count = 1};
    if (str_eq(req->path, STR("/stream"))) {
        rig->parked = req;
        http_stream_open(req, "text/event-stream");
    } else if (str_eq(req->path, STR("/park"))) {
        rig->parked = req;
    } else {
        http_respond(req, str_eq(req->path, STR("/busy")) ? &busy : &ok);
    }
}

static inline struct http_answer refuse(void *arg, int status, const char *reason,
                                        struct arena *arena)
{
    (void)arg;
    return (struct http_answer){
        .status = status, .content_type = "text/plain", .body = arena_str(arena, str_c(reason))};
}

/* ---- the caller */

static inline void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct rig *rig = arg;
    struct heard *h = &rig->heard;
    h->done++;
    h->status = response == NULL ? 0 : response->status;
    if (err != NULL)
        h->err = *err;
    if (response == NULL)
        return;
    buf_clear(&h->body);
    buf_add(&h->body, response->body);
    snprintf(h->content_type, sizeof h->content_type, "%.*s", STR_ARG(response->content_type));
    snprintf(h->retry_after, sizeof h->retry_after, "%.*s", STR_ARG(response->retry_after));
}

static inline void on_head(void *arg, const struct http_response *head)
{
    struct rig *rig = arg;
    rig->heard.heads++;
    rig->heard.status = head->status;
    snprintf(rig->heard.content_type, sizeof rig->heard.content_type, "%.*s",
             STR_ARG(head->content_type));
}

static inline void on_data(void *arg, struct str piece)
{
    struct rig *rig = arg;
    buf_add(&rig->heard.pieces, piece);
}

static inline struct http_call get(struct rig *rig, const char *target)
{
    return (struct http_call){
        .method = "GET", .target = str_c(target), .on_done = on_done, .arg = rig};
}

static inline struct http_call post(struct rig *rig, const char *target, const char *body)
{
    struct http_call call = get(rig, target);
    call.method = "POST";
    call.content_type = "application/json";
    call.body = str_c(body);
    return call;
}

static inline void connect_client(struct rig *rig)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u", rig->port);
    assert_int_equal(http_client_new(&rig->loop, str_c(url), STR("secret"), &rig->client, NULL),
                     RC_OK);
}

static inline struct rig *rig_new(const struct http_limits *with)
{
    struct rig *rig = MEM_NEW(struct rig);
    rig->asked = rig->heard.body = rig->heard.pieces = BUF(8 << 20);
    uv_loop_init(&rig->loop);
    rig->server = http_server_new(&rig->loop, with, handle, refuse, rig);
    assert_int_equal(http_server_listen(rig->server, STR("127.0.0.1"), 0, false, &rig->port, NULL),
                     RC_OK);
    connect_client(rig);
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    http_client_free(rig->client);
    http_server_close(rig->server, NULL, NULL);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    buf_free(&rig->asked);
    buf_free(&rig->heard.body);
    buf_free(&rig->heard.pieces);
    free(rig);
}

/* A test that hangs is ended by the runner's own time limit. */
#define WAIT_FOR(rig, condition)                                                                   \
    while (!(condition))                                                                           \
    uv_run(&(rig)->loop, UV_RUN_ONCE)

static inline void send_and_wait(struct rig *rig, const struct http_call *call)
{
    size_t before = rig->heard.done;
    http_client_send(rig->client, call);
    WAIT_FOR(rig, rig->heard.done > before);
}

static inline void assert_buf(const struct buf *got, const char *want)
{
    assert_int_equal(got->len, strlen(want));
    if (got->len > 0)
        assert_memory_equal(got->ptr, want, got->len);
}
