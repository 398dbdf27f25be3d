/* How connections end: by time, by the client, by the server. */
#include "wire/http/http_rig_test.h"

/* ---- time */

TEST(a_slow_head_is_408_however_it_trickles)
{
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

TEST(a_slow_body_is_408)
{
    struct http_limits limits = usual;
    limits.body_timeout_ms = 50;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel");
    hear_refusal(&p, "408 Request Timeout");
    hang_up(&p);
    rig_free(rig);
}

TEST(an_idle_connection_is_closed_without_a_word)
{
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

TEST(a_parked_request_has_all_the_time_in_the_world)
{
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

TEST(a_reader_that_stops_reading_is_disconnected)
{
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

TEST(a_slow_reader_gets_everything)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial_with_window(rig, 4096);
    say(&p, "GET /large HTTP/1.1\r\n" HOST "\r\nGET /after HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/after");
    assert_true(p.heard.len > 8 << 20);
    hang_up(&p);
    rig_free(rig);
}

/* ---- leaving */

TEST(a_client_that_leaves_is_noticed_while_its_request_is_parked)
{
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

TEST(a_client_that_breaks_off_is_noticed_too)
{
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

TEST(a_half_closed_client_still_gets_its_answers)
{
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

TEST(half_a_request_is_not_answered)
{
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

TEST(http_1_0_gets_an_answer_that_ends_with_the_connection)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /old HTTP/1.0\r\n\r\n");
    hear_end(&p);
    assert_true(has_heard(&p, "Connection: close\r\n"));
    assert_true(has_heard(&p, "/old"));
    hang_up(&p);
    rig_free(rig);
}

TEST(a_handler_can_end_the_connection)
{
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

/* ---- the server goes away */

TEST(draining_closes_the_idle_and_spares_the_busy)
{
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

TEST(closing_waits_for_requests_that_are_held)
{
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

TEST(a_port_in_use_is_said_to_be)
{
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

TEST(loops_can_share_a_port)
{
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
