/* Connections that the server closes, and servers that make no sense: a script of ours plays
 * them. */
#include "wire/client/client_rig_test.h"

/* ---- connections that the server closes */

TEST(an_idle_connection_that_was_closed_is_replaced)
{
    struct http_limits hasty = limits;
    hasty.idle_timeout_ms = 20;
    struct rig *rig = rig_new(&hasty);
    struct http_call call = post(rig, "/echo", "one");
    send_and_wait(rig, &call);
    WAIT_FOR(rig, http_server_connections(rig->server) == 0);
    call = post(rig, "/echo", "two");
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.status, 200);
    assert_buf(&rig->heard.body, "two");
    rig_free(rig);
}

TEST(a_server_that_wants_to_close_is_not_asked_on_that_connection_again)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/park");
    http_client_send(rig->client, &call);
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->parked != NULL);
    struct http_request *first = rig->parked;
    rig->parked = NULL;
    http_respond(first, &(struct http_answer){.status = 200, .close = true});
    WAIT_FOR(rig, rig->parked != NULL);
    http_respond(rig->parked, &(struct http_answer){.status = 202});
    WAIT_FOR(rig, rig->heard.done == 2);
    assert_int_equal(rig->heard.status, 202);
    rig_free(rig);
}

/* A server of one connection at a time that says what it is told to, on the test's own thread. */
struct script {
    int listener;
    int fd;
    uint16_t port;
};

static struct script script_new(struct rig *rig)
{
    struct script s = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), .fd = -1};
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
    } at = {.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at.v4;
    assert_int_equal(bind(s.listener, &at.any, len), 0);
    assert_int_equal(listen(s.listener, 8), 0);
    getsockname(s.listener, &at.any, &len);
    http_client_free(rig->client);
    uint16_t own_port = rig->port;
    rig->port = s.port = ntohs(at.v4.sin_port);
    connect_client(rig);
    rig->port = own_port;
    return s;
}

static void script_free(struct script *s)
{
    close(s->fd);
    close(s->listener);
}

/* Takes the next connection and waits until a request has come over it. */
static void script_accept(struct rig *rig, struct script *s)
{
    close(s->fd);
    while ((s->fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK)) < 0)
        uv_run(&rig->loop, UV_RUN_NOWAIT);
}

static void script_hear(struct rig *rig, struct script *s)
{
    char bytes[1024];
    while (recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0)
        uv_run(&rig->loop, UV_RUN_NOWAIT);
}

static void script_say(struct script *s, const char *text)
{
    assert_int_equal(send(s->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

TEST(a_get_that_meets_a_closing_connection_is_repeated)
{
    struct rig *rig = rig_new(&limits);
    struct script s = script_new(rig);
    struct http_call call = get(rig, "/x");
    http_client_send(rig->client, &call);
    script_accept(rig, &s);
    script_hear(rig, &s);
    script_say(&s, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    WAIT_FOR(rig, rig->heard.done == 1);

    http_client_send(rig->client, &call);
    script_hear(rig, &s); /* has read the request, and closes all the same */
    script_accept(rig, &s);
    script_hear(rig, &s);
    script_say(&s, "HTTP/1.1 204 No Content\r\n\r\n");
    WAIT_FOR(rig, rig->heard.done == 2);
    assert_int_equal(rig->heard.status, 204);
    script_free(&s);
    rig_free(rig);
}

TEST(a_post_that_may_have_been_heard_is_not_repeated)
{
    struct rig *rig = rig_new(&limits);
    struct script s = script_new(rig);
    struct http_call call = post(rig, "/x", "{}");
    http_client_send(rig->client, &call);
    script_accept(rig, &s);
    script_hear(rig, &s);
    script_say(&s, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    WAIT_FOR(rig, rig->heard.done == 1);

    http_client_send(rig->client, &call);
    script_hear(rig, &s);
    close(s.fd);
    s.fd = -1;
    WAIT_FOR(rig, rig->heard.done == 2);
    assert_int_equal(rig->heard.err.rc, RC_UNREACHABLE);
    script_free(&s);
    rig_free(rig);
}

static void hear_script(struct rig *rig, const char *says)
{
    struct script s = script_new(rig);
    struct http_call call = get(rig, "/x");
    http_client_send(rig->client, &call);
    script_accept(rig, &s);
    script_hear(rig, &s);
    script_say(&s, says);
    shutdown(s.fd, SHUT_WR);
    WAIT_FOR(rig, rig->heard.done == 1);
    script_free(&s);
}

TEST(an_answer_without_a_length_ends_with_the_connection)
{
    struct rig *rig = rig_new(&limits);
    hear_script(rig, "HTTP/1.0 200 OK\r\n\r\nall of this");
    assert_int_equal(rig->heard.status, 200);
    assert_buf(&rig->heard.body, "all of this");
    rig_free(rig);
}

TEST(an_interim_answer_is_skipped)
{
    struct rig *rig = rig_new(&limits);
    hear_script(rig, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n"
                     "\r\nok");
    assert_int_equal(rig->heard.status, 201);
    assert_buf(&rig->heard.body, "ok");
    rig_free(rig);
}

TEST(an_answer_that_is_cut_off_is_a_failure)
{
    struct rig *rig = rig_new(&limits);
    hear_script(rig, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    assert_int_equal(rig->heard.status, 0);
    assert_int_equal(rig->heard.err.rc, RC_UNREACHABLE);
    rig_free(rig);
}

TEST(an_answer_that_is_not_http_is_a_failure)
{
    struct rig *rig = rig_new(&limits);
    hear_script(rig, "SSH-2.0-OpenSSH_9.2\r\n");
    assert_int_equal(rig->heard.err.rc, RC_CORRUPT); /* there is a server, and it is another one */
    assert_non_null(strstr(rig->heard.err.text, "not HTTP"));
    rig_free(rig);
}

TEST(the_body_of_an_interim_answer_is_not_joined_to_the_next)
{
    struct rig *rig = rig_new(&limits);
    hear_script(rig, "HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\nevil"
                     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_int_equal(rig->heard.status, 0);
    assert_int_equal(rig->heard.err.rc, RC_CORRUPT);
    rig_free(rig);
}

/* Larger than what the kernel takes for a peer that does not read. */
enum { LARGE_BYTES = 32 << 20 };

/* The server refuses a body by its head, and the next request follows at once: what libuv still
 * writes of the first must be neither freed nor overwritten, and the second must not go over that
 * connection. */
TEST(an_answer_before_the_request_was_sent_ends_the_connection)
{
    struct rig *rig = rig_new(&limits);
    struct script s = script_new(rig);
    char *large = mem_new(LARGE_BYTES + 1);
    memset(large, 'x', LARGE_BYTES);
    struct http_call call = post(rig, "/x", large);
    http_client_send(rig->client, &call);
    script_accept(rig, &s);
    script_hear(rig, &s);
    call = post(rig, "/x", "{}");
    http_client_send(rig->client, &call);
    script_say(&s, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_int_equal(rig->heard.status, 413);

    script_accept(rig, &s); /* a new connection */
    script_hear(rig, &s);
    script_say(&s, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    WAIT_FOR(rig, rig->heard.done == 2);
    assert_int_equal(rig->heard.status, 201);
    script_free(&s);
    rig_free(rig);
    free(large);
}
