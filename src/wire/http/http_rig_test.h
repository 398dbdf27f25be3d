/* http_rig_test.h - for tests: a real server and raw sockets, all on one thread.
 *
 * The loop runs while a test waits for something, so nothing sleeps and nothing races. The server's
 * handler does what the path asks for: /echo, /large, /nothing, /park, /stream, and for any other
 * path it answers with that path. It vouches for those who ask for /friend. */
#pragma once
#include "base/list.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "wire/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST "Host: belfry\r\n"

enum { PATIENCE_MS = 20000 }; /* a test that waits this long has failed */

/* Limits that tests hit on purpose are small; those they must not hit are not. */
static const struct http_limits usual = {
    .head_bytes_max = 1024,
    .target_bytes_max = 256,
    .body_bytes_max = 100000,
    .connections_max = 3,
    .stream_bytes_max = 50000,
    .head_timeout_ms = 60000,
    .body_timeout_ms = 60000,
    .idle_timeout_ms = 60000,
};

/* ---- the server's side */

struct rig {
    uv_loop_t loop;
    struct http_server *server;
    uint16_t port;
    struct http_request *parked; /* asked for /park or /stream, and not answered yet */
    size_t asked;
    size_t left; /* on_gone was called */
    bool closed;
};

static inline void on_gone(struct http_request *req)
{
    struct rig *rig = req->user;
    rig->left++;
}

static inline void answer(struct http_request *req, struct str body)
{
    struct http_answer ok = {.status = 200, .content_type = "text/plain", .body = body};
    http_respond(req, &ok);
}

static inline void respond_large(struct http_request *req)
{
    enum { LARGE = 8 << 20 }; /* more than any socket takes at once */
    char *bytes = arena_bytes(&req->arena, LARGE);
    memset(bytes, 'x', LARGE);
    answer(req, str_of(bytes, LARGE));
}

static inline void handle(void *arg, struct http_request *req)
{
    struct rig *rig = arg;
    rig->asked++;
    req->user = rig;
    req->on_gone = on_gone;
    if (str_eq(req->path, STR("/friend")))
        http_request_vouch(req);
    if (str_eq(req->path, STR("/echo"))) {
        answer(req, req->body);
    } else if (str_eq(req->path, STR("/large"))) {
        respond_large(req);
    } else if (str_eq(req->path, STR("/nothing"))) {
        http_respond(req, &(struct http_answer){.status = 204});
    } else if (str_eq(req->path, STR("/stream"))) {
        rig->parked = req;
        http_stream_open(req, "text/event-stream");
    } else if (str_eq(req->path, STR("/park"))) {
        rig->parked = req;
    } else {
        answer(req, req->path);
    }
}

static inline struct http_answer refuse(void *arg, int status, const char *reason,
                                        struct arena *arena)
{
    (void)arg;
    return (struct http_answer){
        .status = status,
        .content_type = "application/problem+json",
        .body = arena_printf(arena, "{\"detail\":\"%s\"}", reason),
    };
}

static inline void on_server_closed(void *arg)
{
    struct rig *rig = arg;
    rig->closed = true;
}

static inline struct rig *rig_new(const struct http_limits *limits)
{
    struct rig *rig = MEM_NEW(struct rig);
    assert_int_equal(uv_loop_init(&rig->loop), 0);
    rig->server = http_server_new(&rig->loop, limits, handle, refuse, rig);
    struct err err;
    assert_int_equal(http_server_listen(rig->server, STR("127.0.0.1"), 0, false, &rig->port, &err),
                     RC_OK);
    return rig;
}

/* Also proves that nothing is left on the loop, and with the sanitizer that nothing leaked. */
static inline void rig_free(struct rig *rig)
{
    http_server_close(rig->server, on_server_closed, rig);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_true(rig->closed);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    free(rig);
}

static inline void answer_parked(struct rig *rig, struct str body)
{
    struct http_request *req = rig->parked;
    rig->parked = NULL;
    answer(req, body);
}

/* ---- the client's side */

struct peer {
    struct rig *rig;
    int fd;
    struct buf heard;
    bool ended; /* the server closed, the polite way */
    bool broken;
};

/* Lets the server work until something happens, to it or to the peer. */
static inline void turn(struct rig *rig, const struct peer *p)
{
    uv_run(&rig->loop, UV_RUN_NOWAIT);
    struct pollfd fds[] = {{.fd = uv_backend_fd(&rig->loop), .events = POLLIN},
                           {.fd = p == NULL ? -1 : p->fd, .events = POLLIN}};
    int wait_ms = uv_backend_timeout(&rig->loop);
    poll(fds, COUNT_OF(fds), wait_ms < 0 || wait_ms > 100 ? 100 : wait_ms);
    uv_run(&rig->loop, UV_RUN_NOWAIT);
}

#define WAIT_FOR(rig, peer, condition)                                                             \
    do {                                                                                           \
        uint64_t begun_ms_ = uv_now(&(rig)->loop);                                                 \
        while (!(condition)) {                                                                     \
            turn((rig), (peer));                                                                   \
            assert_true(uv_now(&(rig)->loop) - begun_ms_ < PATIENCE_MS);                           \
        }                                                                                          \
    } while (0)

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
};

static inline union address loopback(uint32_t host, uint16_t port)
{
    return (union address){.v4 = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK + host)}};
}

static inline struct peer dial_with_window(struct rig *rig, int window_bytes)
{
    struct peer p = {.rig = rig, .heard = BUF(64 << 20)};
    p.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (window_bytes > 0)
        setsockopt(p.fd, SOL_SOCKET, SO_RCVBUF, &window_bytes, sizeof window_bytes);
    union address to = loopback(0, rig->port);
    assert_int_equal(connect(p.fd, &to.any, sizeof to.v4), 0);
    return p;
}

/* From another address of this machine. */
static inline struct peer dial_from(struct rig *rig, uint32_t host)
{
    struct peer p = {.rig = rig, .heard = BUF(64 << 20)};
    p.fd = socket(AF_INET, SOCK_STREAM, 0);
    union address from = loopback(host, 0);
    union address to = loopback(0, rig->port);
    assert_int_equal(bind(p.fd, &from.any, sizeof from.v4), 0);
    assert_int_equal(connect(p.fd, &to.any, sizeof to.v4), 0);
    return p;
}

static inline struct peer dial(struct rig *rig)
{
    return dial_with_window(rig, 0);
}

static inline void hang_up(struct peer *p)
{
    close(p->fd);
    p->fd = -1;
    buf_free(&p->heard);
}

static inline void say_bytes(struct peer *p, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = send(p->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            assert_int_equal(errno, EAGAIN);
        else
            bytes = str_from(bytes, (size_t)sent);
        uv_run(&p->rig->loop, UV_RUN_NOWAIT);
    }
}

static inline void say(struct peer *p, const char *text)
{
    say_bytes(p, str_c(text));
}

/* Takes what has come so far. */
static inline void listen_up(struct peer *p)
{
    char bytes[65536];
    ssize_t len;
    while ((len = recv(p->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        buf_add(&p->heard, str_of(bytes, (size_t)len));
    p->ended = p->ended || len == 0;
    p->broken = p->broken || (len < 0 && errno != EAGAIN);
}

static inline size_t count_heard(struct peer *p, const char *text)
{
    listen_up(p);
    size_t count = 0;
    struct str rest = buf_str(&p->heard);
    const char *at;
    while (rest.len > 0 && (at = memmem(rest.ptr, rest.len, text, strlen(text))) != NULL) {
        rest = str_from(rest, (size_t)(at - rest.ptr) + strlen(text));
        count++;
    }
    return count;
}

/* Waits for the text. Only looks at what is new: answers may be megabytes long. */
static inline void hear(struct peer *p, const char *text)
{
    size_t len = strlen(text);
    size_t searched = 0;
    uint64_t begun_ms = uv_now(&p->rig->loop);
    for (;;) {
        listen_up(p);
        struct str fresh = str_from(buf_str(&p->heard), searched);
        if (fresh.len >= len && memmem(fresh.ptr, fresh.len, text, len) != NULL)
            return;
        searched = p->heard.len < len ? 0 : p->heard.len - len + 1;
        turn(p->rig, p);
        assert_true(uv_now(&p->rig->loop) - begun_ms < PATIENCE_MS);
    }
}

static inline bool has_heard(struct peer *p, const char *text)
{
    return count_heard(p, text) > 0;
}

static inline struct peer dial_friend(struct rig *rig)
{
    struct peer p = dial(rig);
    say(&p, "GET /friend HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/friend");
    return p;
}

static inline void hear_end(struct peer *p)
{
    WAIT_FOR(p->rig, p, (listen_up(p), p->ended || p->broken));
    assert_false(p->broken);
}

static inline void hear_refusal(struct peer *p, const char *status_line)
{
    hear_end(p);
    assert_int_equal(count_heard(p, "\r\nDate: "), 1);
    assert_true(has_heard(p, status_line));
    assert_true(has_heard(p, "application/problem+json"));
    assert_true(has_heard(p, "Connection: close\r\n"));
}
