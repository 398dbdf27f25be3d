/* A real server and raw sockets, all on one thread: the loop runs while a test waits. */
#include "base/list.h"
#include "base/mem.h"
#include "wire/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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

static void on_gone(struct http_request *req)
{
    struct rig *rig = req->user;
    rig->left++;
}

static void answer(struct http_request *req, struct str body)
{
    struct http_answer ok = {.status = 200, .content_type = "text/plain", .body = body};
    http_respond(req, &ok);
}

static void respond_large(struct http_request *req)
{
    enum { LARGE = 8 << 20 }; /* more than any socket takes at once */
    char *bytes = arena_bytes(&req->arena, LARGE);
    memset(bytes, 'x', LARGE);
    answer(req, str_of(bytes, LARGE));
}

static void handle(void *arg, struct http_request *req)
{
    struct rig *rig = arg;
    rig->asked++;
    req->user = rig;
    req->on_gone = on_gone;
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

static struct http_answer refuse(void *arg, int status, const char *reason, struct arena *arena)
{
    (void)arg;
    return (struct http_answer){
        .status = status,
        .content_type = "application/problem+json",
        .body = arena_printf(arena, "{\"detail\":\"%s\"}", reason),
    };
}

static void on_server_closed(void *arg)
{
    struct rig *rig = arg;
    rig->closed = true;
}

static struct rig *rig_new(const struct http_limits *limits)
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
static void rig_free(struct rig *rig)
{
    http_server_close(rig->server, on_server_closed, rig);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_true(rig->closed);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    free(rig);
}

static void answer_parked(struct rig *rig, struct str body)
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
static void turn(struct rig *rig, const struct peer *p)
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

static struct peer dial_with_window(struct rig *rig, int window_bytes)
{
    struct peer p = {.rig = rig, .heard = BUF(64 << 20)};
    p.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (window_bytes > 0)
        setsockopt(p.fd, SOL_SOCKET, SO_RCVBUF, &window_bytes, sizeof window_bytes);
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
    } to = {.v4 = {.sin_family = AF_INET,
                   .sin_port = htons(rig->port),
                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    assert_int_equal(connect(p.fd, &to.any, sizeof to.v4), 0);
    return p;
}

static struct peer dial(struct rig *rig)
{
    return dial_with_window(rig, 0);
}

static void hang_up(struct peer *p)
{
    close(p->fd);
    p->fd = -1;
    buf_free(&p->heard);
}

static void say_bytes(struct peer *p, struct str bytes)
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

static void say(struct peer *p, const char *text)
{
    say_bytes(p, str_c(text));
}

/* Takes what has come so far. */
static void listen_up(struct peer *p)
{
    char bytes[65536];
    ssize_t len;
    while ((len = recv(p->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        buf_add(&p->heard, str_of(bytes, (size_t)len));
    p->ended = p->ended || len == 0;
    p->broken = p->broken || (len < 0 && errno != EAGAIN);
}

static size_t count_heard(struct peer *p, const char *text)
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

static void hear(struct peer *p, const char *text)
{
    WAIT_FOR(p->rig, p, count_heard(p, text) > 0);
}

static bool has_heard(struct peer *p, const char *text)
{
    return count_heard(p, text) > 0;
}

static void hear_end(struct peer *p)
{
    WAIT_FOR(p->rig, p, (listen_up(p), p->ended || p->broken));
    assert_false(p->broken);
}

static void hear_refusal(struct peer *p, const char *status_line)
{
    hear_end(p);
    assert_int_equal(count_heard(p, "\r\nDate: "), 1);
    assert_true(has_heard(p, status_line));
    assert_true(has_heard(p, "application/problem+json"));
    assert_true(has_heard(p, "Connection: close\r\n"));
}

/* ---- answers */

static void an_answer_has_all_it_needs(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello");
    hear(&p, "\r\n\r\nhello");
    assert_true(has_heard(&p, "HTTP/1.1 200 OK\r\nDate: "));
    assert_true(has_heard(&p, " GMT\r\n"));
    assert_true(has_heard(&p, "Content-Type: text/plain\r\n"));
    assert_true(has_heard(&p, "Content-Length: 5\r\n"));
    assert_false(has_heard(&p, "Connection: close"));
    hang_up(&p);
    rig_free(rig);
}

static void a_head_request_gets_the_length_but_no_body(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "HEAD /abc HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    hear_end(&p);
    assert_true(has_heard(&p, "Content-Length: 4\r\n"));
    assert_false(has_heard(&p, "/abc"));
    hang_up(&p);
    rig_free(rig);
}

static void a_204_has_neither_length_nor_body(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /nothing HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "204 No Content\r\n");
    assert_false(has_heard(&p, "Content-Length"));
    hang_up(&p);
    rig_free(rig);
}

static void headers_of_an_answer_cannot_be_split(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    struct http_header headers[] = {{STR("Location"), STR("/a\r\nSet-Cookie: evil")},
                                    {STR("ETag"), STR("\"7\"")}};
    struct http_answer made = {.status = 303, .headers = headers, .header_count = 2};
    http_respond(rig->parked, &made);
    hear(&p, "ETag: \"7\"\r\n");
    assert_false(has_heard(&p, "Cookie"));
    hang_up(&p);
    rig_free(rig);
}

static void a_request_cut_into_single_bytes_is_answered(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    struct str bytes = STR("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                           "5\r\nhello\r\n0\r\n\r\n");
    for (size_t i = 0; i < bytes.len; i++)
        say_bytes(&p, str_of(bytes.ptr + i, 1));
    hear(&p, "\r\n\r\nhello");
    assert_int_equal(rig->asked, 1);
    hang_up(&p);
    rig_free(rig);
}

static void a_thousand_requests_use_one_connection(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    for (size_t i = 1; i <= 1000; i++) {
        say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi");
        WAIT_FOR(rig, &p, count_heard(&p, "\r\n\r\nhi") == i);
        if (i < 1000)
            continue;
        assert_int_equal(http_server_connections(rig->server), 1);
        assert_int_equal(rig->asked, 1000);
    }
    hang_up(&p);
    rig_free(rig);
}

static void a_large_body_comes_in_and_goes_out_whole(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    enum { LEN = 100000 };
    struct buf request = BUF(2 * LEN);
    buf_printf(&request, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", LEN);
    for (int i = 0; i < LEN; i++)
        buf_add_char(&request, (char)('a' + i % 26));
    struct str body = str_from(buf_str(&request), request.len - LEN);
    say_bytes(&p, buf_str(&request));
    hear(&p, "\r\n\r\n");
    WAIT_FOR(rig, &p, (listen_up(&p), p.heard.len > LEN));
    assert_memory_equal(p.heard.ptr + p.heard.len - LEN, body.ptr, LEN);
    buf_free(&request);
    hang_up(&p);
    rig_free(rig);
}

/* ---- order */

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /1 HTTP/1.1\r\n" HOST "\r\nPOST /echo HTTP/1.1\r\n" HOST
            "Content-Length: 2\r\n\r\n/2GET /3 HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/3");
    const char *first = memmem(p.heard.ptr, p.heard.len, "\r\n\r\n/1", 6);
    const char *second = memmem(p.heard.ptr, p.heard.len, "\r\n\r\n/2", 6);
    assert_non_null(first);
    assert_true(first < second);
    hang_up(&p);
    rig_free(rig);
}

static void a_pipelined_request_waits_for_the_one_before(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\nGET /next HTTP/1.1\r\n" HOST "\r\n"
            "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    assert_int_equal(rig->asked, 1);
    answer_parked(rig, STR("first"));
    assert_int_equal(rig->asked, 1); /* never from within http_respond */
    hear(&p, "/next");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    answer_parked(rig, STR("last"));
    hear(&p, "last");
    hang_up(&p);
    rig_free(rig);
}

static void a_flood_behind_a_parked_request_is_held_back(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    enum { COUNT = 4000 };
    struct buf flood = BUF(1 << 20);
    for (int i = 0; i < COUNT; i++)
        buf_add(&flood, STR("GET /next HTTP/1.1\r\n" HOST "\r\n"));
    say_bytes(&p, buf_str(&flood));
    assert_int_equal(rig->asked, 1);
    answer_parked(rig, STR("first"));
    WAIT_FOR(rig, &p, count_heard(&p, "\r\n\r\n/next") == COUNT);
    buf_free(&flood);
    hang_up(&p);
    rig_free(rig);
}

/* ---- refusals */

static void a_refusal_is_a_problem_document_and_closes(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n");
    hear_refusal(&p, "400 Bad Request");
    assert_int_equal(rig->asked, 0);
    hang_up(&p);
    rig_free(rig);
}

static void a_refusal_is_heard_over_an_unfinished_upload(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 100; i++) /* a socket closed over these would be reset */
        say(&p, "some more of the body that nobody is going to read");
    hear_refusal(&p, "413 Content Too Large");
    hang_up(&p);
    rig_free(rig);
}

static void every_refusal_has_its_status(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        const char *status;
    } cases[] = {
        {"GET http://a/ HTTP/1.1\r\n" HOST "\r\n", "400 Bad Request"},
        {"POST / HTTP/1.1\r\n" HOST "Expect: more\r\n\r\n", "417 Expectation Failed"},
        {"BREW / HTTP/1.1\r\n" HOST "\r\n", "501 Not Implemented"},
        {"GET / HTTP/3.0\r\n" HOST "\r\n", "505 HTTP Version Not Supported"},
    };
    struct rig *rig = rig_new(&usual);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct peer p = dial(rig);
        say(&p, cases[i].request);
        hear_refusal(&p, cases[i].status);
        hang_up(&p);
        WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 0);
    }
    rig_free(rig);
}

static void say_letters(struct peer *p, size_t count)
{
    struct buf letters = BUF(count);
    while (letters.len < count)
        buf_add_char(&letters, 'x');
    say_bytes(p, buf_str(&letters));
    buf_free(&letters);
}

static void a_long_target_is_told_so(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /");
    say_letters(&p, 300);
    hear_refusal(&p, "414 URI Too Long");
    hang_up(&p);
    rig_free(rig);
}

static void a_large_head_is_told_so(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET / HTTP/1.1\r\n" HOST "X: ");
    say_letters(&p, 1100);
    hear_refusal(&p, "431 Request Header Fields Too Large");
    hang_up(&p);
    rig_free(rig);
}

static void one_connection_too_many_is_503(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer friends[3];
    for (size_t i = 0; i < COUNT_OF(friends); i++)
        friends[i] = dial(rig);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 3);
    struct peer late = dial(rig);
    say(&late, "GET / HTTP/1.1\r\n" HOST "\r\n");
    hear_refusal(&late, "503 Service Unavailable");
    assert_int_equal(rig->asked, 0);
    hang_up(&late);

    hang_up(&friends[0]);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 2);
    struct peer next = dial(rig);
    say(&next, "GET /welcome HTTP/1.1\r\n" HOST "\r\n");
    hear(&next, "/welcome");
    hang_up(&next);
    hang_up(&friends[1]);
    hang_up(&friends[2]);
    rig_free(rig);
}

/* ---- 100-continue */

static void a_client_that_expects_a_100_gets_it_once(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    hear(&p, "HTTP/1.1 100 Continue\r\n\r\n");
    say(&p, "hel");
    say(&p, "lo");
    hear(&p, "\r\n\r\nhello");
    assert_int_equal(count_heard(&p, "100 Continue"), 1);
    hang_up(&p);
    rig_free(rig);
}

static void a_body_that_is_too_large_gets_no_100(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
            "Content-Length: 1000000\r\n\r\n");
    hear_refusal(&p, "413 Content Too Large");
    hang_up(&p);
    rig_free(rig);
}

/* ---- time */

static void a_slow_head_is_408_however_it_trickles(void **state)
{
    (void)state;
    struct http_limits limits = usual;
    limits.head_timeout_ms = 50;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    say(&p, "GET / HTTP/1.1\r\nX: ");
    WAIT_FOR(rig, &p, (send(p.fd, "x", 1, MSG_NOSIGNAL), has_heard(&p, "408")));
    hear_refusal(&p, "408 Request Timeout");
    hang_up(&p);
    rig_free(rig);
}

static void a_slow_body_is_408(void **state)
{
    (void)state;
    struct http_limits limits = usual;
    limits.body_timeout_ms = 50;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel");
    hear_refusal(&p, "408 Request Timeout");
    hang_up(&p);
    rig_free(rig);
}

static void an_idle_connection_is_closed_without_a_word(void **state)
{
    (void)state;
    struct http_limits limits = usual;
    limits.idle_timeout_ms = 50;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    say(&p, "GET /once HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/once");
    size_t len = p.heard.len;
    hear_end(&p);
    assert_int_equal(p.heard.len, len);
    hang_up(&p);
    rig_free(rig);
}

static void a_parked_request_has_all_the_time_in_the_world(void **state)
{
    (void)state;
    struct http_limits limits = usual;
    limits.head_timeout_ms = limits.body_timeout_ms = limits.idle_timeout_ms = 20;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    uint64_t since_ms = uv_now(&rig->loop);
    WAIT_FOR(rig, &p, uv_now(&rig->loop) > since_ms + 100);
    answer_parked(rig, STR("at last"));
    hear(&p, "at last");
    hang_up(&p);
    rig_free(rig);
}

static void a_reader_that_stops_reading_is_disconnected(void **state)
{
    (void)state;
    struct http_limits limits = usual;
    limits.body_timeout_ms = 50;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial_with_window(rig, 4096);
    say(&p, "GET /large HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, NULL, rig->asked == 1);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 0);
    hang_up(&p);
    rig_free(rig);
}

static void a_slow_reader_gets_everything(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial_with_window(rig, 4096);
    say(&p, "GET /large HTTP/1.1\r\n" HOST "\r\nGET /after HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/after");
    assert_true(p.heard.len > 8 << 20);
    hang_up(&p);
    rig_free(rig);
}

/* ---- leaving */

static void a_client_that_leaves_is_noticed_while_its_request_is_parked(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    assert_false(rig->parked->gone);
    hang_up(&p);
    WAIT_FOR(rig, NULL, rig->left == 1);
    assert_true(rig->parked->gone);
    answer_parked(rig, STR("to nobody"));
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 0);
    assert_int_equal(rig->left, 1);
    rig_free(rig);
}

static void a_client_that_breaks_off_is_noticed_too(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    struct linger at_once = {.l_onoff = 1};
    setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    hang_up(&p); /* with a reset */
    WAIT_FOR(rig, NULL, rig->left == 1);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 0);
    answer_parked(rig, STR("to nobody"));
    rig_free(rig);
}

static void a_half_closed_client_still_gets_its_answers(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\nGET /second HTTP/1.1\r\n" HOST "\r\n");
    shutdown(p.fd, SHUT_WR);
    WAIT_FOR(rig, &p, rig->left == 1);
    answer_parked(rig, STR("first"));
    hear_end(&p);
    assert_true(has_heard(&p, "first"));
    assert_true(has_heard(&p, "/second"));
    assert_int_equal(count_heard(&p, "Connection: close"), 1);
    hang_up(&p);
    rig_free(rig);
}

static void half_a_request_is_not_answered(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel");
    shutdown(p.fd, SHUT_WR);
    hear_end(&p);
    assert_int_equal(p.heard.len, 0);
    assert_int_equal(rig->asked, 0);
    hang_up(&p);
    rig_free(rig);
}

static void http_1_0_gets_an_answer_that_ends_with_the_connection(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /old HTTP/1.0\r\n\r\n");
    hear_end(&p);
    assert_true(has_heard(&p, "Connection: close\r\n"));
    assert_true(has_heard(&p, "/old"));
    hang_up(&p);
    rig_free(rig);
}

static void a_handler_can_end_the_connection(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    struct http_answer bye = {.status = 401, .close = true};
    http_respond(rig->parked, &bye);
    hear_end(&p);
    assert_true(has_heard(&p, "Connection: close\r\n"));
    hang_up(&p);
    rig_free(rig);
}

/* ---- streams */

static void stream_write(struct rig *rig, const char *text)
{
    assert_int_equal(http_stream_write(rig->parked, str_c(text)), RC_OK);
}

static void a_stream_is_sent_as_it_is_written(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "Transfer-Encoding: chunked\r\n");
    stream_write(rig, "data: one\n\n");
    hear(&p, "b\r\ndata: one\n\n\r\n");
    stream_write(rig, ""); /* must not end it */
    stream_write(rig, "data: two\n\n");
    hear(&p, "data: two");
    assert_false(has_heard(&p, "0\r\n\r\n"));
    http_stream_close(rig->parked);
    hear(&p, "\r\n0\r\n\r\n");
    say(&p, "GET /after HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/after");
    hang_up(&p);
    rig_free(rig);
}

static void a_stream_to_http_1_0_has_no_chunks(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /stream HTTP/1.0\r\n\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    stream_write(rig, "data: one\n\n");
    hear(&p, "\r\n\r\ndata: one\n\n");
    http_stream_close(rig->parked);
    hear_end(&p);
    assert_false(has_heard(&p, "chunked"));
    hang_up(&p);
    rig_free(rig);
}

static void a_stream_that_is_only_asked_for_its_head_has_no_body(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "HEAD /stream HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    assert_int_equal(http_stream_write(rig->parked, STR("data")), RC_UNREACHABLE);
    http_stream_close(rig->parked);
    hear_end(&p);
    assert_int_equal(memcmp(p.heard.ptr + p.heard.len - 4, "\r\n\r\n", 4), 0);
    hang_up(&p);
    rig_free(rig);
}

/* Writes until the reader is too slow; returns how many pieces went in. */
static size_t fill(struct rig *rig, struct str piece)
{
    size_t count = 0;
    enum rc rc;
    while ((rc = http_stream_write(rig->parked, piece)) == RC_OK)
        count++;
    assert_int_equal(rc, RC_BUSY);
    return count;
}

static void a_stream_whose_reader_is_slow_is_bounded(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial_with_window(rig, 4096);
    say(&p, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, NULL, rig->parked != NULL);
    struct str piece = STR("data: 0123456789 0123456789 0123456789 0123456789 0123456789\n\n");
    size_t count = fill(rig, piece);
    assert_true(http_stream_unsent(rig->parked) <= usual.stream_bytes_max + 16);
    WAIT_FOR(rig, &p, count_heard(&p, "data") == count);
    assert_int_equal(http_stream_unsent(rig->parked), 0);
    count += fill(rig, piece);
    http_stream_close(rig->parked);
    hear(&p, "\r\n0\r\n\r\n");
    assert_int_equal(count_heard(&p, "data"), count);
    hang_up(&p);
    rig_free(rig);
}

static void a_stream_learns_that_its_reader_has_left(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    hang_up(&p);
    WAIT_FOR(rig, NULL, rig->left == 1);
    assert_int_equal(http_stream_write(rig->parked, STR("data")), RC_UNREACHABLE);
    http_stream_close(rig->parked);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 0);
    rig_free(rig);
}

/* ---- the server goes away */

static void draining_closes_the_idle_and_spares_the_busy(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer idle = dial(rig);
    struct peer busy = dial(rig);
    say(&idle, "GET /once HTTP/1.1\r\n" HOST "\r\n");
    hear(&idle, "/once");
    say(&busy, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &busy, rig->parked != NULL);
    http_server_drain(rig->server);
    hear_end(&idle);
    answer_parked(rig, STR("goodbye"));
    hear_end(&busy);
    assert_true(has_heard(&busy, "goodbye"));
    assert_true(has_heard(&busy, "Connection: close"));
    hang_up(&idle);
    hang_up(&busy);
    rig_free(rig);
}

static void closing_waits_for_requests_that_are_held(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &p, rig->parked != NULL);
    http_server_close(rig->server, on_server_closed, rig);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_false(rig->closed);
    assert_int_equal(rig->left, 1);
    answer_parked(rig, STR("to nobody"));
    assert_true(rig->closed);
    hang_up(&p);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    free(rig);
}

static void a_port_in_use_is_said_to_be(void **state)
{
    (void)state;
    struct rig *rig = rig_new(&usual);
    struct http_server *second = http_server_new(&rig->loop, &usual, handle, refuse, rig);
    uint16_t port;
    struct err err;
    assert_int_equal(http_server_listen(second, STR("127.0.0.1"), rig->port, false, &port, &err),
                     RC_IO);
    assert_non_null(strstr(err.text, "cannot listen on 127.0.0.1:"));
    http_server_close(second, NULL, NULL);
    rig_free(rig);
}

static void loops_can_share_a_port(void **state)
{
    (void)state;
    uv_loop_t loop;
    uv_loop_init(&loop);
    uint16_t port;
    uint16_t same;
    struct http_server *one = http_server_new(&loop, &usual, handle, refuse, NULL);
    struct http_server *two = http_server_new(&loop, &usual, handle, refuse, NULL);
    assert_int_equal(http_server_listen(one, STR("127.0.0.1"), 0, true, &port, NULL), RC_OK);
    assert_int_equal(http_server_listen(two, STR("127.0.0.1"), port, true, &same, NULL), RC_OK);
    assert_int_equal(port, same);
    http_server_close(one, NULL, NULL);
    http_server_close(two, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_has_all_it_needs),
        cmocka_unit_test(a_head_request_gets_the_length_but_no_body),
        cmocka_unit_test(a_204_has_neither_length_nor_body),
        cmocka_unit_test(headers_of_an_answer_cannot_be_split),
        cmocka_unit_test(a_request_cut_into_single_bytes_is_answered),
        cmocka_unit_test(a_thousand_requests_use_one_connection),
        cmocka_unit_test(a_large_body_comes_in_and_goes_out_whole),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(a_pipelined_request_waits_for_the_one_before),
        cmocka_unit_test(a_flood_behind_a_parked_request_is_held_back),
        cmocka_unit_test(a_refusal_is_a_problem_document_and_closes),
        cmocka_unit_test(a_refusal_is_heard_over_an_unfinished_upload),
        cmocka_unit_test(every_refusal_has_its_status),
        cmocka_unit_test(a_long_target_is_told_so),
        cmocka_unit_test(a_large_head_is_told_so),
        cmocka_unit_test(one_connection_too_many_is_503),
        cmocka_unit_test(a_client_that_expects_a_100_gets_it_once),
        cmocka_unit_test(a_body_that_is_too_large_gets_no_100),
        cmocka_unit_test(a_slow_head_is_408_however_it_trickles),
        cmocka_unit_test(a_slow_body_is_408),
        cmocka_unit_test(an_idle_connection_is_closed_without_a_word),
        cmocka_unit_test(a_parked_request_has_all_the_time_in_the_world),
        cmocka_unit_test(a_reader_that_stops_reading_is_disconnected),
        cmocka_unit_test(a_slow_reader_gets_everything),
        cmocka_unit_test(a_client_that_leaves_is_noticed_while_its_request_is_parked),
        cmocka_unit_test(a_client_that_breaks_off_is_noticed_too),
        cmocka_unit_test(a_half_closed_client_still_gets_its_answers),
        cmocka_unit_test(half_a_request_is_not_answered),
        cmocka_unit_test(http_1_0_gets_an_answer_that_ends_with_the_connection),
        cmocka_unit_test(a_handler_can_end_the_connection),
        cmocka_unit_test(a_stream_is_sent_as_it_is_written),
        cmocka_unit_test(a_stream_to_http_1_0_has_no_chunks),
        cmocka_unit_test(a_stream_that_is_only_asked_for_its_head_has_no_body),
        cmocka_unit_test(a_stream_whose_reader_is_slow_is_bounded),
        cmocka_unit_test(a_stream_learns_that_its_reader_has_left),
        cmocka_unit_test(draining_closes_the_idle_and_spares_the_busy),
        cmocka_unit_test(closing_waits_for_requests_that_are_held),
        cmocka_unit_test(a_port_in_use_is_said_to_be),
        cmocka_unit_test(loops_can_share_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
