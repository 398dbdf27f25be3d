#include "server/call/net.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "server/call/browser.h"
#include "server/call/route_table.h"
#include "server/call/routes.h"
#include "server/call/slow.h"
#include "server/cluster/peers.h"
#include "server/metrics/metrics.h"
#include "wire/http/sse.h"

#include <assert.h>
#include <stdlib.h>

enum {
    STREAM_TICK_MS = 20,     /* how soon a writer hears that a slow reader took something */
    STREAM_LOOK_TICKS = 25,  /* 0.5 s: a reader whose key or session ended is read to no longer */
    STREAM_PING_TICKS = 750, /* 15 s: keeps proxies and NAT tables from forgetting a stream */
    PROBLEM_BYTES_MAX = 4096,
};

struct net {
    struct server *server;
    uv_loop_t loop;
    struct mailbox *box;
    struct thread *thread;
    size_t number;
    struct http_server *http;
    struct http_server *metrics; /* of metrics_listen; NULL: another thread has it, or none */
    unsigned open_servers;
    struct peers *peers; /* owned */
    struct slow_calls slow;
    struct list streams;
    uv_timer_t stream_timer;
    unsigned ticks;
    struct parcel drain;
    struct parcel stop;
};

/* An open stream; in its request's arena. */
struct net_stream {
    struct list_node node;
    struct request *request;
    bool pings; /* its silence is broken by comments */
    atomic_size_t *unsent;
    void (*on_gone)(struct request *r);
};

/* ---- mail */

static void on_mail(void *arg, struct mailbox *box)
{
    (void)arg;
    struct list mail;
    list_init(&mail);
    mailbox_take_all(box, &mail);
    for (struct list_node *node; (node = list_pop_front(&mail)) != NULL;) {
        struct mail *one = CONTAINER_OF(node, struct mail, node);
        struct parcel *parcel = CONTAINER_OF(one, struct parcel, mail);
        parcel->deliver(parcel);
    }
}

void net_send(struct net *net, struct parcel *parcel)
{
    enum rc rc = mailbox_send_always(net->box, &parcel->mail);
    assert(rc == RC_OK); /* nets are the last to stop */
    (void)rc;
}

size_t net_number(const struct net *net)
{
    return net->number;
}

struct peers *net_peers(struct net *net)
{
    return net->peers;
}

/* ---- streams */

static void stream_gone(struct http_request *http)
{
    struct request *r = http->user;
    struct net_stream *s = r->stream;
    if (s->on_gone != NULL)
        s->on_gone(r);
    s->on_gone = NULL;
}

static void on_stream_tick(uv_timer_t *timer)
{
    struct net *net = timer->data;
    CLEANUP(buf_free) struct buf ping = BUF(64);
    sse_print_ping(&ping);
    bool due = ++net->ticks % STREAM_PING_TICKS == 0;
    LIST_EACH(&net->streams, node)
    {
        struct net_stream *s = CONTAINER_OF(node, struct net_stream, node);
        if (due && s->pings)
            (void)http_stream_write(s->request->http, buf_str(&ping)); /* full: it is not idle */
        atomic_store(s->unsent, http_stream_unsent(s->request->http));
        if (net->ticks % STREAM_LOOK_TICKS == 0 && !browser_still_may(s->request))
            http_request_drop(s->request->http);
    }
}

void net_stream_open(struct request *r, const char *content_type, atomic_size_t *unsent,
                     void (*on_gone)(struct request *r))
{
    struct net *net = r->net;
    struct net_stream *s = ARENA_NEW(r->arena, struct net_stream);
    *s = (struct net_stream){.request = r,
                             .pings = str_eq(str_c(content_type), STR(SSE_TYPE)),
                             .unsent = unsent,
                             .on_gone = on_gone};
    r->stream = s;
    if (list_empty(&net->streams))
        uv_timer_start(&net->stream_timer, on_stream_tick, STREAM_TICK_MS, STREAM_TICK_MS);
    list_push_back(&net->streams, &s->node);
    metrics_stream(net->server->metrics, net->number, 1);
    http_stream_open(r->http, content_type);
    r->http->on_gone = stream_gone;
    if (r->http->gone)
        stream_gone(r->http);
}

void net_stream_be_silent(struct request *r)
{
    r->stream->pings = false;
}

void net_stream_close(struct request *r, bool broken)
{
    struct net *net = r->net;
    list_remove(&r->stream->node);
    metrics_stream(net->server->metrics, net->number, -1);
    if (list_empty(&net->streams))
        uv_timer_stop(&net->stream_timer);
    if (broken)
        http_stream_abort(r->http);
    else
        http_stream_close(r->http);
}

/* ---- requests */

/* Every answer that is a problem can be named, also one that no handler has seen. */
static struct str new_id(const struct server *server, char ret_id[REQUEST_ID_MAX])
{
    static atomic_uint_least64_t numbers;
    uint64_t number = atomic_fetch_add(&numbers, 1);
    return id_format(ret_id, "", (uint64_t)server->started_ms << 20 ^ number);
}

static struct request *request_new(struct net *net, struct http_request *http)
{
    struct request *r = ARENA_NEW(&http->arena, struct request);
    r->http = http;
    r->arena = &http->arena;
    r->server = net->server;
    r->net = net;
    r->list.total = -1;
    http->begun_us = r->times.mark_us = clock_mono_us();
    new_id(net->server, r->request_id);
    http->user = r;
    return r;
}

typedef bool net_admit(struct request *r, bool body_follows);

/* A request with a body was met when its head came. */
static void serve(void *arg, struct http_request *http, net_admit *admit)
{
    struct request *r = http->user;
    if (r != NULL)
        times_book(&r->times, SPENT_READ, clock_mono_us());
    else if (!admit((r = request_new(arg, http)), false))
        return;
    log_set_about(request_about, r);
    routes_serve(r);
    log_set_about(NULL, NULL); /* it may be gone */
}

static void on_request(void *arg, struct http_request *http)
{
    serve(arg, http, routes_admit);
}

static bool on_head(void *arg, struct http_request *http)
{
    return routes_admit(request_new(arg, http), true);
}

/* The address of metrics has no other path. */
static bool admit_scrape(struct request *r, bool body_follows)
{
    if (str_eq(r->http->path, STR("/metrics")))
        return routes_admit(r, body_follows);
    request_problem(r, 404, "there is only /metrics at this address");
    return false;
}

static void on_scrape(void *arg, struct http_request *http)
{
    serve(arg, http, admit_scrape);
}

static bool on_scrape_head(void *arg, struct http_request *http)
{
    return admit_scrape(request_new(arg, http), true);
}

static void on_answer(void *arg, const struct http_request *http, int status)
{
    struct net *net = arg;
    struct request *r = http->user;
    const struct route *route = r == NULL ? NULL : r->route;
    int64_t now_us = r == NULL ? 0 : clock_mono_us();
    metrics_answer(net->server->metrics,
                   &(struct answered){
                       .net = net->number,
                       .route = route == NULL ? route_count : (size_t)(route - route_table),
                       .status = status,
                       .took_us = r == NULL ? -1 : now_us - http->begun_us,
                   });
    if (r != NULL)
        slow_look(&net->slow, r, status, now_us);
    log_set_about(NULL, NULL); /* the request ends with its answer */
}

static struct http_answer on_refusal(void *arg, int status, const char *reason, struct arena *arena)
{
    static const struct http_header again = {STR_INIT("Retry-After"), STR_INIT("1")};
    struct net *net = arg;
    char id[REQUEST_ID_MAX];
    size_t max = PROBLEM_BYTES_MAX;
    struct buf body = {.ptr = arena_bytes(arena, max), .cap = max, .max = max};
    problem_print(&body, status, NULL, str_c(reason), new_id(net->server, id), NULL);
    return (struct http_answer){
        .status = status,
        .content_type = "application/problem+json",
        .body = buf_str(&body),
        .headers = &again,
        .header_count = status == 503,
        .close = true,
    };
}

/* ---- starting and stopping */

static struct http_limits limits_of(struct server *server)
{
    const struct server_options *options = server->options;
    return (struct http_limits){
        .head_bytes_max = options->head_bytes_max,
        .target_bytes_max = options->head_bytes_max / 2,
        .body_bytes_max = options->request_bytes_max,
        .connections_max = options->connections_max,
        .address_max = options->address_connections_max > 0 ? options->address_connections_max
                                                            : (options->connections_max + 1) / 2,
        .buffered_bytes_max = options->buffered_bytes_max,
        .quota = server->quota,
        .stream_bytes_max = options->stream_bytes_max,
        .head_timeout_ms = options->head_timeout_ms,
        .body_timeout_ms = options->body_timeout_ms,
        .body_rate_min = options->body_rate_min,
        .idle_timeout_ms = options->idle_timeout_ms,
        .stranger_timeout_ms = options->stranger_timeout_ms,
    };
}

static void on_closed(void *arg)
{
    struct net *net = arg;
    if (--net->open_servers > 0)
        return;
    uv_close((uv_handle_t *)&net->stream_timer, NULL);
    slow_close(&net->slow);
    uv_stop(&net->loop);
}

static void deliver_drain(struct parcel *parcel)
{
    struct net *net = CONTAINER_OF(parcel, struct net, drain);
    http_server_drain(net->http);
    if (net->metrics != NULL)
        http_server_drain(net->metrics);
}

static void close_servers(struct net *net)
{
    struct http_server *metrics = net->metrics;
    net->open_servers = 1 + (metrics != NULL);
    http_server_close(net->http, on_closed, net);
    if (metrics != NULL)
        http_server_close(metrics, on_closed, net);
}

static void deliver_stop(struct parcel *parcel)
{
    struct net *net = CONTAINER_OF(parcel, struct net, stop);
    peers_close(net->peers);
    close_servers(net);
}

static void run(void *arg)
{
    struct net *net = arg;
    uv_run(&net->loop, UV_RUN_DEFAULT);
}

/* When the thread is gone. The mailbox goes here and not with the rest of the loop: whoever sent
 * the last mail may still be about to wake the receiver when that has read it already. */
static void net_free(struct net *net)
{
    mailbox_free(net->box);
    uv_run(&net->loop, UV_RUN_DEFAULT);
    uv_loop_close(&net->loop);
    peers_free(net->peers);
    free(net);
}

/* By the first thread: scrapes are few, and printed elsewhere. */
static enum rc listen_for_scrapes(struct net *net, const struct http_limits *limits,
                                  struct err *err)
{
    const struct server_options *o = net->server->options;
    uint16_t port = o->metrics_port;
    if (net->number > 0 || o->metrics_host == NULL)
        return RC_OK;
    net->metrics = http_server_new(&net->loop, limits, on_scrape, on_refusal, net);
    http_server_set_gate(net->metrics, on_scrape_head);
    http_server_set_witness(net->metrics, on_answer);
    TRY(http_server_listen(net->metrics, str_c(o->metrics_host), port, false, &port, err));
    log_info("metrics", "address", o->metrics_listen, "port", LOG_NUMBER(port), NULL);
    return RC_OK;
}

static enum rc listen_all(struct net *net, const struct http_limits *limits, uint16_t *port,
                          struct err *err)
{
    TRY(http_server_listen(net->http, str_c(net->server->options->listen_host), *port, true, port,
                           err));
    return listen_for_scrapes(net, limits, err);
}

enum rc net_start(struct server *server, uint16_t *port, struct net **ret_net, struct err *err)
{
    struct net *net = MEM_NEW(struct net);
    struct http_limits limits = limits_of(server);
    net->server = server;
    net->number = atomic_load(&server->net_count);
    list_init(&net->streams);
    uv_loop_init(&net->loop);
    uv_timer_init(&net->loop, &net->stream_timer);
    net->stream_timer.data = net;
    slow_init(&net->slow, &net->loop, server, net->number);
    net->peers = peers_new(&net->loop, server);
    net->box = mailbox_new_on_loop(&net->loop, server->options->mailbox_max, on_mail, net);
    net->http = http_server_new(&net->loop, &limits, on_request, on_refusal, net);
    http_server_set_gate(net->http, on_head);
    http_server_set_witness(net->http, on_answer);
    enum rc rc = listen_all(net, &limits, port, err);
    if (rc == RC_OK)
        rc = thread_start("net", run, net, &net->thread, err);
    if (rc != RC_OK) {
        peers_close(net->peers);
        close_servers(net);
        run(net);
        net_free(net);
        return rc;
    }
    *ret_net = net;
    return RC_OK;
}

void net_drain(struct net *net)
{
    net->drain.deliver = deliver_drain;
    net_send(net, &net->drain);
}

void net_stop(struct net *net)
{
    net->stop.deliver = deliver_stop;
    net_send(net, &net->stop);
    thread_join(net->thread);
    net_free(net);
}
