#include "server/cluster/forward.h"
#include "base/log.h"
#include "base/vec.h"
#include "loop/clock.h"
#include "server/call/browser.h"
#include "server/call/net.h"
#include "server/call/route_table.h"
#include "server/call/routes.h"
#include "server/cluster/membership.h"
#include "server/cluster/peers.h"
#include "server/metrics/metrics.h"
#include "wire/http/http_text.h"
#include "wire/http/sse.h"

#include <string.h>

enum {
    MISDIRECTED = 421,
    AGAIN_MS = 100,         /* between two tries */
    STREAM_IDLE_MS = 60000, /* a stream says something every 15 s */
    HEADERS_MAX = 12,
};

/* A request on its way; in its arena. */
struct forward {
    bool by_id;  /* the owner of id is looked for; else anybody who owns something */
    uint64_t id; /* 0: of the first partition */
    int64_t until_us;
    bool unsent; /* the call that failed was never sent */
    bool sent;   /* one was, perhaps */
    bool lost;   /* one was, and nobody knows what became of it */
    struct peer_stream *stream;
    bool open;            /* the answer has begun */
    atomic_size_t unread; /* of it */
};

static void attempt(struct request *r);

static struct forward *forward_of(struct request *r)
{
    if (r->forward == NULL) {
        r->forward = ARENA_NEW(r->arena, struct forward);
        r->forward->until_us =
            clock_mono_us() + (int64_t)r->server->options->forward_wait_ms * 1000;
    }
    return r->forward;
}

/* ---- the answer */

static void leave(struct request *r)
{
    times_leave(&r->times, SPENT_OTHER_SERVER, clock_mono_us());
}

static void come_back(struct request *r)
{
    if (r->times.away == SPENT_OTHER_SERVER)
        times_return(&r->times, clock_mono_us());
}

static void wait_and_try(struct request *r)
{
    leave(r);
    membership_wake(r->server->membership);
    peers_later(net_peers(r->net), r, AGAIN_MS, attempt);
}

static bool may_wait(const struct request *r)
{
    return clock_mono_us() < r->forward->until_us && !peers_closed(net_peers(r->net));
}

/* The answer to a request that was done already, by a try whose answer was lost. */
static bool is_refusal(int status)
{
    return status == 404 || status == 409 || status == 412;
}

bool forward_is_doubtful(const struct request *r, int status)
{
    return r->forward != NULL && r->forward->lost && is_refusal(status) &&
           routes_repeat(r) == REPEAT_IN_DOUBT;
}

static void fail(struct request *r, const struct err *err)
{
    struct forward *f = r->forward;
    enum command_repeat repeat = routes_repeat(r);
    f->lost |= f->sent && !f->unsent;
    bool again = !(f->lost && repeat == REPEAT_NEVER) && may_wait(r);
    if (err->rc == RC_TIMEOUT)
        request_problem(r, 504, "%s", err->text);
    else if (again)
        wait_and_try(r);
    else if (f->lost && repeat != REPEAT_FREELY)
        request_problem(r, 502, "whether it was done is not known: %s", err->text);
    else
        request_problem(r, 503, "the server that decides about this cannot be reached: %s",
                        err->text);
}

/* Headers that a client may want besides the body. */
static size_t copy_headers(const struct http_response *from, struct arena *arena,
                           struct http_header *ret_headers)
{
    static const char *const names[] = {
        "ETag",      "Retry-After",      "Idempotency-Replayed", "Location",
        "Allow",     "WWW-Authenticate", "Content-Encoding",     "Vary",
        "Set-Cookie"};
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct str value = http_response_header(from, str_c(names[i]));
        if (value.len > 0)
            ret_headers[count++] = (struct http_header){str_c(names[i]), arena_str(arena, value)};
    }
    return count;
}

static void pass_on(struct request *r, const struct http_response *response)
{
    struct http_header headers[HEADERS_MAX];
    size_t count = copy_headers(response, r->arena, headers);
    if (r->session != NULL)
        headers[count++] = browser_no_store;
    const char *type =
        response->content_type.len > 0 ? arena_zstr(r->arena, response->content_type) : NULL;
    http_respond(r->http, &(struct http_answer){
                              .status = response->status,
                              .content_type = type,
                              .body = response->body,
                              .headers = headers,
                              .header_count = count,
                          });
}

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct request *r = arg;
    come_back(r);
    if (response == NULL)
        fail(r, err);
    else if (forward_is_doubtful(r, response->status))
        request_problem(r, response->status, "it was refused");
    else if (response->status != MISDIRECTED)
        pass_on(r, response);
    else if (may_wait(r))
        wait_and_try(r);
    else
        request_problem(r, 503, "no server decides about this at the moment");
}

/* ---- streams */

static void end_stream(struct request *r, bool broken)
{
    struct forward *f = r->forward;
    struct peer_stream *stream = f->stream; /* r is gone after this */
    net_stream_close(r, broken);
    peer_stream_free(stream);
}

static void reader_gone(struct request *r)
{
    end_stream(r, false);
}

static void open_stream(struct request *r)
{
    struct forward *f = r->forward;
    if (f->open)
        return;
    f->open = true;
    net_stream_open(r, SSE_TYPE, &f->unread, NULL);
    net_stream_be_silent(r); /* the pings of the other server are handed on */
}

/* There may be nothing to hand on for long: the reader is told that it is heard. */
static void on_stream_head(void *arg, const struct http_response *head)
{
    struct request *r = arg;
    if (!str_starts(head->content_type, STR(SSE_TYPE)))
        return;
    open_stream(r);
    if (r->http->gone)
        reader_gone(r);
}

static void on_stream_data(void *arg, struct str piece)
{
    struct request *r = arg;
    open_stream(r);
    if (r->http->gone)
        reader_gone(r);
    else if (http_stream_write(r->http, piece) == RC_BUSY)
        end_stream(r, true); /* too slow: it resumes from the last it has */
}

static void on_stream_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct request *r = arg;
    struct forward *f = r->forward;
    if (f->open) {
        end_stream(r, response == NULL);
        return;
    }
    struct peer_stream *stream = f->stream;
    f->stream = NULL;
    on_done(r, response, err);
    peer_stream_free(stream);
}

static bool is_about_stream(const struct request *r)
{
    struct str text;
    return http_request_accepts(r->http, STR(SSE_TYPE)) &&
           http_request_param(r->http, STR("follow"), &text) && str_eq(text, STR("true"));
}

static bool is_stream(const struct request *r)
{
    return r->http->method == HTTP_METHOD_GET && is_about_stream(r);
}

/* The length and the tag that HEAD tells are those of the whole answer, which this server makes of
 * what others say. A stream has neither. */
static const char *method_of(const struct request *r)
{
    if (r->http->method == HTTP_METHOD_HEAD && !is_about_stream(r))
        return "GET";
    return http_method_name(r->http->method);
}

/* ---- the request */

static const char *role_name(enum role role)
{
    return role == ROLE_ADMIN ? "admin" : role == ROLE_WORKER ? "worker" : "anyone";
}

static struct str target_of(const struct request *r, struct arena *arena)
{
    if (r->http->query.len == 0)
        return r->http->path;
    return arena_printf(arena, "%.*s?%.*s", STR_ARG(r->http->path), STR_ARG(r->http->query));
}

static void add_header(struct http_header *headers, size_t *count, const char *name,
                       struct str value)
{
    if (value.len > 0)
        headers[(*count)++] = (struct http_header){str_c(name), value};
}

/* The caller. */
static size_t add_identity(const struct request *r, struct http_header *headers,
                           struct arena *arena)
{
    size_t count = 0;
    add_header(headers, &count, FORWARD_PRINCIPAL,
               arena_printf(arena, "%s %.*s", role_name(r->who->role), STR_ARG(r->who->name)));
    add_header(headers, &count, FORWARD_WEB, r->who->web ? STR("1") : STR(""));
    if ((r->route->roles & ROLE_ANYONE) != 0)
        add_header(headers, &count, FORWARD_HOST, http_request_header(r->http, STR("Host")));
    add_header(headers, &count, FORWARD_REQUEST, str_c(r->request_id));
    return count;
}

struct http_call forward_question(struct request *r, struct str target, struct arena *arena)
{
    struct http_header *headers = ARENA_ARRAY(arena, struct http_header, HEADERS_MAX);
    return (struct http_call){
        .method = "GET",
        .target = target,
        .headers = headers,
        .header_count = add_identity(r, headers, arena),
        .timeout_ms = r->server->options->forward_wait_ms,
        .arg = r,
    };
}

struct http_call forward_call(struct request *r, struct arena *arena)
{
    static const char *const copied[] = {"If-Match", "Idempotency-Key"};
    /* What the client has, and takes, is a whole: the parts of several servers are read here. */
    static const char *const of_whole[] = {"If-None-Match", "Accept-Encoding"};
    struct http_header *headers = ARENA_ARRAY(arena, struct http_header, HEADERS_MAX);
    struct str type = http_request_header(r->http, STR("Content-Type"));
    size_t count = add_identity(r, headers, arena);
    for (size_t i = 0; i < COUNT_OF(copied); i++)
        add_header(headers, &count, copied[i], http_request_header(r->http, str_c(copied[i])));
    for (size_t i = 0; i < COUNT_OF(of_whole) && r->gathering == NULL; i++)
        add_header(headers, &count, of_whole[i], http_request_header(r->http, str_c(of_whole[i])));
    add_header(headers, &count, "traceparent", request_header_joined(r, STR("traceparent")));
    add_header(headers, &count, "tracestate", request_header_joined(r, STR("tracestate")));
    if (!r->is_unpacked)
        add_header(headers, &count, "Content-Encoding",
                   http_request_header(r->http, STR("Content-Encoding")));
    return (struct http_call){
        .method = method_of(r),
        .target = target_of(r, arena),
        .content_type = type.len > 0 ? arena_zstr(arena, type) : NULL,
        .body = r->http->body,
        .accept = http_request_header(r->http, STR("Accept")),
        .last_event_id = http_request_header(r->http, STR("Last-Event-ID")),
        .headers = headers,
        .header_count = count,
        .timeout_ms = r->server->options->forward_wait_ms,
        .arg = r,
    };
}

static void send_to(struct request *r, struct str address)
{
    struct err err;
    struct forward *f = r->forward;
    struct http_call call = forward_call(r, r->arena);
    enum rc rc;
    call.ret_unsent = &f->unsent;
    f->sent = true;
    leave(r);
    metrics_forward(r->server->metrics, net_number(r->net));
    if (is_stream(r)) {
        call.timeout_ms = 0;
        call.idle_ms = STREAM_IDLE_MS;
        call.on_head = on_stream_head;
        call.on_data = on_stream_data;
        call.on_done = on_stream_done;
        rc = peers_stream(net_peers(r->net), address, &call, &f->stream, &err);
    } else {
        call.on_done = on_done;
        rc = peers_send(net_peers(r->net), address, &call, &err);
    }
    if (rc != RC_OK)
        request_fail(r, rc == RC_SHUTDOWN ? rc : RC_BUSY, err.text);
}

/* ---- where to */

static bool is_ours(const struct request *r)
{
    const struct membership *m = r->server->membership;
    return r->forward->by_id ? membership_owns(m, r->forward->id) : membership_owns_any(m);
}

static bool find(struct request *r, struct peer *ret_to)
{
    struct membership *m = r->server->membership;
    if (!r->forward->by_id)
        return membership_any_owner(m, r->arena, ret_to);
    /* It may be us, but not yet, or not any more. */
    return membership_owner(m, r->forward->id, r->arena, ret_to) && !membership_is_me(m, ret_to);
}

static void attempt(struct request *r)
{
    struct peer to;
    come_back(r);
    if (is_ours(r))
        routes_handle(r);
    else if (find(r, &to))
        send_to(r, to.address);
    else if (may_wait(r))
        wait_and_try(r);
    else
        request_problem(r, 503, "no server decides about this at the moment");
}

static void refuse_second_hop(struct request *r)
{
    membership_wake(r->server->membership);
    request_problem(r, MISDIRECTED, "this server does not decide about that (any more)");
}

static bool go(struct request *r, bool by_id, uint64_t id)
{
    if (r->server->membership == NULL)
        return false;
    forward_of(r)->by_id = by_id;
    r->forward->id = id;
    if (is_ours(r))
        return false;
    if (r->by_server)
        refuse_second_hop(r);
    else
        attempt(r);
    return true;
}

bool forward_to_owner(struct request *r, uint64_t id)
{
    return go(r, true, id);
}

bool forward_to_any(struct request *r)
{
    return go(r, false, 0);
}

bool forward_to_holder(struct request *r, const struct submission *item)
{
    if (r->server->membership == NULL)
        return false;
    if (!forward_to_owner(r, item->unique.claim->answer.holder))
        forward_refused(r); /* ours since then */
    return true;
}

bool forward_to_address(struct request *r, struct str address)
{
    struct membership *m = r->server->membership;
    struct peer *peers;
    if (r->by_server || (m != NULL && str_eq(address, membership_address(m))))
        return false;
    size_t count = m == NULL ? 0 : membership_peers(m, r->arena, &peers);
    for (size_t i = 0; i < count; i++) {
        if (!str_eq(peers[i].address, address))
            continue;
        forward_of(r)->until_us = 0; /* the caller will ask again */
        send_to(r, peers[i].address);
        return true;
    }
    request_problem(r, 503, "there is no server at '%.*s'", STR_ARG(str_head(address, 300)));
    return true;
}

void forward_refused(struct request *r)
{
    if (r->by_server) {
        refuse_second_hop(r);
        return;
    }
    (void)forward_of(r);
    if (may_wait(r))
        wait_and_try(r);
    else
        request_problem(r, 503, "no server decides about this at the moment");
}

/* ---- by another server */

void forward_read(struct request *r)
{
    struct str name = http_request_header(r->http, STR(FORWARD_PRINCIPAL));
    struct str id = http_request_header(r->http, STR(FORWARD_REQUEST));
    struct principal *who = ARENA_NEW(r->arena, struct principal);
    struct str role = str_cut(&name, ' ');
    r->by_server = true;
    r->who = who;
    who->name = name.len > 0 ? name : STR("server");
    who->web = http_request_header(r->http, STR(FORWARD_WEB)).len > 0;
    who->actor = auth_actor(who->name, who->web, r->arena);
    who->role = str_eq(role, STR("admin"))    ? ROLE_ADMIN
                : str_eq(role, STR("worker")) ? ROLE_WORKER
                : role.len == 0               ? ROLE_SERVER
                                              : ROLE_ANYONE;
    if (id.len > 0 && id.len < REQUEST_ID_MAX) {
        memcpy(r->request_id, id.ptr, id.len);
        r->request_id[id.len] = '\0';
    }
}
