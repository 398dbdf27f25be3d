#include "wire/client/client.h"
#include "base/list.h"
#include "base/mem.h"
#include "wire/client/client_link.h"
#include "wire/http/http_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES_MAX = 64 << 20 }; /* of an answer, when the caller does not say */

/* A call of http_client_send. */
struct call {
    struct list_node node; /* in client->calls */
    struct buf request;    /* the bytes for the wire; lent to the link while under way */
    bool to_head;
    bool repeatable; /* asking twice does no harm */
    uint64_t timeout_ms;
    uint64_t idle_ms;
    uint64_t deadline_ms; /* uv_now's clock; 0: none */
    struct err failure;   /* when set, the deadline is the moment to tell */
    struct buf body;
    void (*on_head)(void *arg, const struct http_response *head);
    void (*on_data)(void *arg, struct str piece);
    void (*on_done)(void *arg, const struct http_response *response, const struct err *err);
    void *arg;
    bool *ret_unsent; /* may be NULL */
};

struct http_client {
    uv_loop_t *loop;
    struct arena arena; /* of url and token */
    struct client_url url;
    struct str token;
    struct list calls;        /* the first one is under way when `under_way` */
    struct client_link *link; /* NULL: not connected */
    uv_timer_t timer;         /* for the earliest deadline */
    bool under_way;
    bool freed;
};

static struct call *first_call(const struct http_client *c)
{
    struct list_node *node = list_first(&c->calls);
    return node == NULL ? NULL : CONTAINER_OF(node, struct call, node);
}

static void call_free(struct call *call)
{
    buf_free(&call->request);
    buf_free(&call->body);
    free(call);
}

static void drop_link(struct http_client *c)
{
    client_link_drop(c->link);
    c->link = NULL;
}

/* ---- the ends of calls */

static void on_timer(uv_timer_t *timer);

static void arm_timer(struct http_client *c)
{
    uint64_t earliest_ms = UINT64_MAX;
    LIST_EACH(&c->calls, node)
    {
        struct call *call = CONTAINER_OF(node, struct call, node);
        if (call->deadline_ms != 0 && call->deadline_ms < earliest_ms)
            earliest_ms = call->deadline_ms;
    }
    uint64_t now_ms = uv_now(c->loop);
    if (earliest_ms == UINT64_MAX || c->freed)
        uv_timer_stop(&c->timer);
    else
        uv_timer_start(&c->timer, on_timer, earliest_ms > now_ms ? earliest_ms - now_ms : 0, 0);
}

/* Tells the owner, who may do anything with the client meanwhile, even free it: its memory stays
 * until the loop comes by. */
static void finish(struct http_client *c, struct call *take_call,
                   const struct http_response *response, const struct err *err)
{
    if (take_call == first_call(c))
        c->under_way = false;
    list_remove(&take_call->node);
    arm_timer(c);
    take_call->on_done(take_call->arg, response, err);
    call_free(take_call);
}

static void advance(struct http_client *c);

static void on_head(void *arg, const struct http_response *head)
{
    struct http_client *c = arg;
    const struct call *call = first_call(c);
    if (call->on_head != NULL && head->status / 100 == 2)
        call->on_head(call->arg, head); /* may give up the call */
}

static bool on_piece(void *arg, int status, struct str piece)
{
    struct http_client *c = arg;
    struct call *call = first_call(c);
    if (call->idle_ms > 0) /* the timer finds out when it fires: most pieces need none of it */
        call->deadline_ms = uv_now(c->loop) + call->idle_ms;
    if (call->on_data != NULL && status / 100 == 2) {
        call->on_data(call->arg, piece); /* may give up the call */
        return true;
    }
    buf_add(&call->body, piece);
    return !call->body.overflow;
}

static void on_answer(void *arg, const struct http_response *head)
{
    struct http_client *c = arg;
    struct call *call = first_call(c);
    struct http_response response = *head;
    response.body = buf_str(&call->body);
    finish(c, call, &response, NULL);
    advance(c);
}

static void on_failure(void *arg, const struct err *err)
{
    struct http_client *c = arg;
    struct call *call = first_call(c);
    bool again = c->under_way && client_link_was_stale(c->link, call->repeatable);
    if (again) {
        call->request = client_link_reclaim(c->link);
        c->under_way = false;
    }
    if (c->under_way && call->ret_unsent != NULL)
        *call->ret_unsent = client_link_sent_nothing(c->link);
    drop_link(c);
    if (c->under_way)
        finish(c, call, NULL, err);
    advance(c);
}

static const struct client_link_events link_events = {
    .on_head = on_head,
    .on_piece = on_piece,
    .on_answer = on_answer,
    .on_failure = on_failure,
};

/* Starts the first call, unless one is under way. */
static void advance(struct http_client *c)
{
    struct call *call = first_call(c);
    if (c->freed || c->under_way || call == NULL || call->failure.rc != RC_OK)
        return;
    c->under_way = true;
    if (c->link != NULL && !client_link_is_usable(c->link))
        drop_link(c);
    if (c->link == NULL)
        c->link = client_link_open(c->loop, &c->url, &link_events, c);
    client_link_send(c->link, call->request, call->to_head);
    call->request = (struct buf){0};
}

static struct call *expired_call(const struct http_client *c)
{
    LIST_EACH(&c->calls, node)
    {
        struct call *call = CONTAINER_OF(node, struct call, node);
        if (call->deadline_ms != 0 && call->deadline_ms <= uv_now(c->loop))
            return call;
    }
    return NULL;
}

static void on_timer(uv_timer_t *timer)
{
    struct http_client *c = timer->data;
    struct call *call;
    while ((call = expired_call(c)) != NULL) {
        if (c->under_way && call == first_call(c))
            drop_link(c); /* a late answer would be taken for that of the next call */
        struct err err = call->failure;
        if (err.rc == RC_OK && call->idle_ms > 0)
            err_set(&err, RC_TIMEOUT, "%s was silent for %" PRIu64 " ms", c->url.text,
                    call->idle_ms);
        else if (err.rc == RC_OK)
            err_set(&err, RC_TIMEOUT, "%s gave no answer within %" PRIu64 " ms", c->url.text,
                    call->timeout_ms);
        finish(c, call, NULL, &err);
    }
    arm_timer(c);
    advance(c);
}

/* ---- the public face */

enum rc http_client_new(uv_loop_t *loop, struct str url, struct str token,
                        struct http_client **ret_client, struct err *err)
{
    struct arena arena = {0};
    struct client_url parsed;
    enum rc rc = client_url_parse(&arena, url, &parsed, err);
    if (rc == RC_OK && !http_is_header_text(token))
        rc = err_set(err, RC_INVALID, "the token has a line break or another control byte in it");
    if (rc != RC_OK) {
        arena_free(&arena);
        return rc;
    }
    struct http_client *c = MEM_NEW(struct http_client);
    c->loop = loop;
    c->url = parsed;
    c->token = arena_str(&arena, token);
    c->arena = arena;
    list_init(&c->calls);
    uv_timer_init(loop, &c->timer); /* cannot fail */
    c->timer.data = c;
    *ret_client = c;
    return RC_OK;
}

static void add_header(struct buf *out, struct str name, struct str value)
{
    if (value.len == 0)
        return;
    buf_add(out, name);
    buf_add(out, STR(": "));
    buf_add(out, value);
    buf_add(out, STR("\r\n"));
}

static void compose(const struct http_client *c, const struct http_call *spec, struct buf *out)
{
    buf_printf(out, "%s %.*s%.*s HTTP/1.1\r\n", spec->method, STR_ARG(c->url.prefix),
               STR_ARG(spec->target));
    add_header(out, STR("Host"), c->url.authority);
    add_header(out, STR("User-Agent"), STR("belfry/" BELFRY_VERSION));
    if (c->token.len > 0)
        buf_printf(out, "Authorization: Bearer %.*s\r\n", STR_ARG(c->token));
    add_header(out, STR("Accept"), spec->accept);
    add_header(out, STR("Last-Event-ID"), spec->last_event_id);
    for (size_t i = 0; i < spec->header_count; i++)
        add_header(out, spec->headers[i].name, spec->headers[i].value);
    add_header(out, STR("Content-Type"), str_c(spec->content_type));
    if (spec->content_type != NULL || spec->body.len > 0)
        buf_printf(out, "Content-Length: %zu\r\n", spec->body.len);
    buf_add(out, STR("\r\n"));
    buf_add(out, spec->body);
}

static struct call *call_new(const struct http_client *c, const struct http_call *spec)
{
    struct call *call = MEM_NEW(struct call);
    call->to_head = strcmp(spec->method, "HEAD") == 0;
    call->repeatable = call->to_head || strcmp(spec->method, "GET") == 0;
    call->timeout_ms = spec->timeout_ms;
    call->idle_ms = spec->idle_ms;
    uint64_t wait_ms = spec->idle_ms > 0 ? spec->idle_ms : spec->timeout_ms;
    call->deadline_ms = wait_ms == 0 ? 0 : uv_now(c->loop) + wait_ms;
    call->on_head = spec->on_head;
    call->on_data = spec->on_data;
    call->on_done = spec->on_done;
    call->arg = spec->arg;
    call->ret_unsent = spec->ret_unsent;
    if (spec->ret_unsent != NULL)
        *spec->ret_unsent = false;
    call->body = BUF(spec->body_bytes_max > 0 ? spec->body_bytes_max : BODY_BYTES_MAX);
    call->request = BUF(SIZE_MAX);
    compose(c, spec, &call->request);
    return call;
}

struct str http_response_header(const struct http_response *response, struct str name)
{
    struct str rest = response->headers;
    while (rest.len > 0) {
        struct str value = str_cut(&rest, '\n');
        struct str key = str_cut(&value, ':');
        if (str_eq_nocase(key, name))
            return str_trim(value);
    }
    return (struct str){0};
}

static bool is_sound(const struct http_call *spec)
{
    for (size_t i = 0; i < spec->header_count; i++) {
        if (!http_is_header_text(spec->headers[i].value))
            return false;
    }
    return http_target_is_sound(spec->target, false) && http_is_header_text(spec->accept) &&
           http_is_header_text(spec->last_event_id);
}

void http_client_send(struct http_client *c, const struct http_call *call)
{
    assert(!c->freed && call->on_done != NULL);
    struct call *own = call_new(c, call);
    list_push_back(&c->calls, &own->node);
    if (!is_sound(call)) {
        /* Told by the timer, at once, but not while the owner is still in here. */
        err_set(&own->failure, RC_INVALID, "%.*s cannot be asked for: a bad character in it",
                STR_ARG(call->target));
        own->deadline_ms = 1;
    }
    arm_timer(c);
    advance(c);
}

void http_client_abort(struct http_client *c)
{
    struct list calls; /* apart: the owners may send new ones while they hear of this */
    list_init(&calls);
    list_splice_back(&calls, &c->calls);
    c->under_way = false;
    drop_link(c);
    arm_timer(c);
    struct err err;
    err_set(&err, RC_SHUTDOWN, "%s: the call was given up", c->url.text);
    struct list_node *node;
    while ((node = list_pop_front(&calls)) != NULL) {
        struct call *call = CONTAINER_OF(node, struct call, node);
        call->on_done(call->arg, NULL, &err);
        call_free(call);
    }
}

bool http_client_busy(const struct http_client *c)
{
    return !list_empty(&c->calls);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct http_client *c = handle->data;
    arena_free(&c->arena);
    free(c);
}

void http_client_free(struct http_client *c)
{
    if (c == NULL)
        return;
    assert(!c->freed);
    c->freed = true;
    http_client_abort(c);
    uv_close((uv_handle_t *)&c->timer, on_timer_closed);
}
