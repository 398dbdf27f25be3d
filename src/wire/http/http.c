/* The server itself: listening, the clock that sweeps over connections, and going away. */
#include "base/mem.h"
#include "wire/http/http_conn.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_BYTES_MAX = 65536, /* of an answer; ours stay under 1 KiB */
    BACKLOG = 1024,
    SWEEP_MIN_MS = 10,
    SWEEP_MAX_MS = 1000, /* a time-out may come a second late */
};

/* ---- beginning */

static uint64_t sweep_interval_ms(const struct http_limits *limits)
{
    uint64_t shortest = limits->head_timeout_ms;
    if (limits->body_timeout_ms < shortest)
        shortest = limits->body_timeout_ms;
    if (limits->idle_timeout_ms < shortest)
        shortest = limits->idle_timeout_ms;
    if (limits->stranger_timeout_ms > 0 && limits->stranger_timeout_ms < shortest)
        shortest = limits->stranger_timeout_ms;
    uint64_t interval_ms = shortest / 4;
    if (interval_ms < SWEEP_MIN_MS)
        return SWEEP_MIN_MS;
    return interval_ms > SWEEP_MAX_MS ? SWEEP_MAX_MS : interval_ms;
}

static void on_sweep(uv_timer_t *timer)
{
    struct http_server *s = timer->data;
    uint64_t now_ms = uv_now(s->loop);
    LIST_EACH(&s->conns, node)
    {
        struct http_conn *c = CONTAINER_OF(node, struct http_conn, node);
        if (c->deadline_ms != 0 && now_ms >= c->deadline_ms)
            http_conn_expire(c);
    }
}

struct http_server *http_server_new(uv_loop_t *loop, const struct http_limits *limits,
                                    http_handler *handler, http_refusal *refusal, void *arg)
{
    struct http_server *s = MEM_NEW(struct http_server);
    s->loop = loop;
    s->limits = *limits;
    if (limits->quota == NULL)
        s->limits.quota = s->own_quota = http_quota_new();
    s->handler = handler;
    s->refusal = refusal;
    s->arg = arg;
    s->head = BUF(HEAD_BYTES_MAX);
    list_init(&s->conns);
    list_init(&s->ready);
    list_init(&s->strangers);
    /* None of these can fail: they open nothing. */
    uv_tcp_init(loop, &s->listener);
    uv_timer_init(loop, &s->sweep);
    uv_idle_init(loop, &s->resume);
    s->listener.data = s->sweep.data = s->resume.data = s;
    s->handles = 3;
    uint64_t interval_ms = sweep_interval_ms(limits);
    uv_timer_start(&s->sweep, on_sweep, interval_ms, interval_ms);
    uv_unref((uv_handle_t *)&s->sweep);
    return s;
}

void http_server_set_gate(struct http_server *s, http_gate *gate)
{
    assert(!s->listening);
    s->gate = gate;
}

void http_server_set_witness(struct http_server *s, http_witness *witness)
{
    assert(!s->listening);
    s->witness = witness;
}

/* ---- listening */

/* A socket bound to the address, or -1 and errno. */
static int bind_socket(const struct addrinfo *address, bool shared)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if ((shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) ||
        bind(fd, address->ai_addr, address->ai_addrlen) < 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

/* libuv could bind too, but knows nothing of SO_REUSEPORT in the version Debian has. */
static enum rc bind_host(struct str host, uint16_t port, bool shared, int *ret_fd, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found;
    int failed = getaddrinfo(arena_zstr(&arena, host), service, &hints, &found);
    if (failed != 0)
        return err_set(err, RC_INVALID, "%.*s is no address to listen on: %s", STR_ARG(host),
                       gai_strerror(failed));
    int fd = -1;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = bind_socket(a, shared);
    int why = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return err_set(err, RC_IO, "cannot listen on %.*s:%u: %s", STR_ARG(host), port,
                       strerror(why));
    *ret_fd = fd;
    return RC_OK;
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (status == 0) /* otherwise the client gave up before we came to it */
        http_conn_accept(listener->data);
}

static uint16_t bound_port(const uv_tcp_t *listener)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name;
    int len = sizeof name;
    int failed = uv_tcp_getsockname(listener, &name.any, &len);
    assert(failed == 0); /* it is bound */
    (void)failed;
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

enum rc http_server_listen(struct http_server *s, struct str host, uint16_t port, bool shared,
                           uint16_t *ret_port, struct err *err)
{
    assert(!s->listening && !s->draining);
    int fd = -1;
    TRY(bind_host(host, port, shared, &fd, err));
    int failed = uv_tcp_open(&s->listener, fd);
    if (failed != 0)
        close(fd);
    else
        failed = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
    if (failed != 0)
        return err_set(err, RC_IO, "cannot listen on %.*s:%u: %s", STR_ARG(host), port,
                       uv_strerror(failed));
    s->listening = true;
    *ret_port = bound_port(&s->listener);
    return RC_OK;
}

enum rc http_probe(struct str host, uint16_t port, struct err *err)
{
    int fd = -1;
    TRY(bind_host(host, port, false, &fd, err));
    close(fd);
    return RC_OK;
}

size_t http_server_connections(const struct http_server *s)
{
    return s->open_count;
}

/* ---- pipelined requests */

static void on_resume(uv_idle_t *idle)
{
    struct http_server *s = idle->data;
    struct list batch; /* requests that become ready meanwhile wait for the sockets */
    list_init(&batch);
    list_splice_back(&batch, &s->ready);
    struct list_node *node;
    while ((node = list_pop_front(&batch)) != NULL)
        http_conn_resume(CONTAINER_OF(node, struct http_conn, ready));
    if (list_empty(&s->ready))
        uv_idle_stop(idle);
}

void http_server_wake(struct http_server *s, struct http_conn *c)
{
    if (list_linked(&c->ready))
        return;
    list_push_back(&s->ready, &c->ready);
    uv_idle_start(&s->resume, on_resume);
}

/* ---- going away */

static void finish_if_empty(struct http_server *s)
{
    if (!s->closing || s->handles > 0 || !list_empty(&s->conns))
        return;
    void (*on_closed)(void *arg) = s->on_closed;
    void *arg = s->closed_arg;
    buf_free(&s->head);
    http_quota_free(s->own_quota);
    free(s);
    if (on_closed != NULL)
        on_closed(arg);
}

void http_server_forget(struct http_server *s)
{
    finish_if_empty(s);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct http_server *s = handle->data;
    s->handles--;
    finish_if_empty(s);
}

void http_server_drain(struct http_server *s)
{
    if (s->draining)
        return;
    s->draining = true;
    uv_close((uv_handle_t *)&s->listener, on_handle_closed);
    LIST_EACH(&s->conns, node)
    {
        struct http_conn *c = CONTAINER_OF(node, struct http_conn, node);
        if (http_conn_is_idle(c))
            http_conn_close(c);
    }
}

void http_server_close(struct http_server *s, void (*on_closed)(void *arg), void *arg)
{
    assert(!s->closing);
    http_server_drain(s);
    s->closing = true;
    s->on_closed = on_closed;
    s->closed_arg = arg;
    uv_close((uv_handle_t *)&s->sweep, on_handle_closed);
    uv_close((uv_handle_t *)&s->resume, on_handle_closed);
    LIST_EACH(&s->conns, node)
    {
        http_conn_close(CONTAINER_OF(node, struct http_conn, node));
    }
}
