/* Calls, streams, time and failure. */
#include "wire/client/client_rig_test.h"

/* ---- calls */

TEST(a_call_gets_its_answer)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = post(rig, "/echo", "{\"a\":1}");
    call.last_event_id = STR("42");
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.status, 200);
    assert_buf(&rig->heard.body, "{\"a\":1}");
    assert_string_equal(rig->heard.content_type, "text/plain");
    assert_buf(&rig->asked, "POST /echo [Bearer secret] 42\n");
    rig_free(rig);
}

TEST(an_error_status_is_an_answer_too)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/busy");
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.status, 503);
    assert_string_equal(rig->heard.retry_after, "7");
    rig_free(rig);
}

TEST(an_answer_to_head_has_no_body)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = post(rig, "/echo", "not sent back");
    call.method = "HEAD";
    send_and_wait(rig, &call);
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.status, 200);
    assert_int_equal(rig->heard.body.len, 0);
    assert_int_equal(http_server_connections(rig->server), 1);
    rig_free(rig);
}

TEST(calls_are_made_one_after_another_on_one_connection)
{
    struct rig *rig = rig_new(&limits);
    for (int i = 0; i < 100; i++) {
        struct http_call call = get(rig, "/x");
        http_client_send(rig->client, &call);
    }
    assert_true(http_client_busy(rig->client));
    assert_int_equal(rig->heard.done, 0); /* never from within http_client_send */
    WAIT_FOR(rig, rig->heard.done == 100);
    assert_false(http_client_busy(rig->client));
    assert_int_equal(http_server_connections(rig->server), 1);
    rig_free(rig);
}

TEST(a_large_body_goes_and_comes)
{
    struct rig *rig = rig_new(&limits);
    enum { LEN = 3 << 20 };
    struct http_call call = post(rig, "/echo", "");
    char *bytes = mem_new(LEN);
    memset(bytes, 'x', LEN);
    call.body = str_of(bytes, LEN);
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.body.len, LEN);
    free(bytes);
    rig_free(rig);
}

TEST(an_answer_over_the_limit_is_too_large)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = post(rig, "/echo", "0123456789");
    call.body_bytes_max = 9;
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.err.rc, RC_TOO_LARGE);
    rig_free(rig);
}

TEST(a_target_with_a_line_break_is_not_sent)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/a\r\nX-Evil: 1");
    http_client_send(rig->client, &call);
    assert_int_equal(rig->heard.done, 0);
    struct http_call good = get(rig, "/b");
    send_and_wait(rig, &good);
    assert_int_equal(rig->heard.err.rc, RC_INVALID);
    WAIT_FOR(rig, rig->heard.done == 2);
    assert_buf(&rig->asked, "GET /b [Bearer secret] \n");
    rig_free(rig);
}

TEST(a_prefix_goes_before_every_target)
{
    struct rig *rig = rig_new(&limits);
    http_client_free(rig->client);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/under/", rig->port);
    http_client_new(&rig->loop, str_c(url), STR(""), &rig->client, NULL);
    struct http_call call = get(rig, "/x");
    send_and_wait(rig, &call);
    assert_buf(&rig->asked, "GET /under/x [] \n");
    rig_free(rig);
}

TEST(a_program_without_a_loop_hears_of_failure)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct http_call call = {.method = "GET", .target = STR("/"), .timeout_ms = 1000};
    struct http_response response;
    struct err err;
    /* Port 1 is nobody's. */
    assert_int_equal(
        http_client_call(STR("http://127.0.0.1:1"), STR(""), &call, &arena, &response, &err),
        RC_UNREACHABLE);
    assert_string_equal(err.text, "cannot reach http://127.0.0.1:1: connection refused");
}

/* ---- streams */

TEST(a_stream_is_handed_over_as_it_comes)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/stream");
    call.on_data = on_data;
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->parked != NULL);
    http_stream_write(rig->parked, STR("data: one\n\n"));
    WAIT_FOR(rig, rig->heard.pieces.len == 11);
    assert_int_equal(rig->heard.done, 0);
    http_stream_write(rig->parked, STR("data: two\n\n"));
    http_stream_close(rig->parked);
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_buf(&rig->heard.pieces, "data: one\n\ndata: two\n\n");
    assert_int_equal(rig->heard.body.len, 0);
    assert_string_equal(rig->heard.content_type, "text/event-stream");
    rig_free(rig);
}

TEST(the_head_of_a_stream_is_told_before_its_first_piece)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/stream");
    call.on_data = on_data;
    call.on_head = on_head;
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->heard.heads == 1);
    assert_int_equal(rig->heard.status, 200);
    assert_string_equal(rig->heard.content_type, "text/event-stream");
    assert_int_equal(rig->heard.pieces.len, 0);
    http_stream_write(rig->parked, STR("one"));
    WAIT_FOR(rig, rig->heard.pieces.len == 3);
    http_stream_close(rig->parked);
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_int_equal(rig->heard.heads, 1);
    call.target = STR("/busy"); /* the caller hears of an error as a whole */
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.status, 503);
    assert_int_equal(rig->heard.heads, 1);
    rig_free(rig);
}

static void give_up_at_head(void *arg, const struct http_response *head)
{
    struct rig *rig = arg;
    on_head(arg, head);
    http_client_abort(rig->client);
}

TEST(a_stream_can_be_given_up_at_its_head)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/stream");
    call.on_data = on_data;
    call.on_head = give_up_at_head;
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_int_equal(rig->heard.err.rc, RC_SHUTDOWN);
    assert_int_equal(rig->heard.heads, 1);
    http_stream_close(rig->parked);
    rig_free(rig);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

TEST(a_stream_that_falls_silent_is_given_up)
{
    struct rig *rig = rig_new(&limits);
    uv_timer_t tick; /* so that the loop comes by while nothing happens */
    uv_timer_init(&rig->loop, &tick);
    uv_timer_start(&tick, on_tick, 10, 10);
    struct http_call call = get(rig, "/stream");
    call.on_data = on_data;
    call.idle_ms = 2000; /* and not less: a machine may stand still for a second */
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->parked != NULL);
    uint64_t begun_ms = uv_now(&rig->loop);
    for (uint64_t i = 1; i <= 5;
         i++) { /* longer than the pause that is allowed, but never silent */
        http_stream_write(rig->parked, STR(":\n\n"));
        WAIT_FOR(rig, uv_now(&rig->loop) >= begun_ms + 500 * i);
        assert_int_equal(rig->heard.done, 0);
    }
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_int_equal(rig->heard.err.rc, RC_TIMEOUT);
    assert_non_null(strstr(rig->heard.err.text, "was silent for 2000 ms"));
    uv_close((uv_handle_t *)&tick, NULL);
    http_stream_close(rig->parked);
    rig_free(rig);
}

TEST(an_error_instead_of_a_stream_is_collected)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/busy");
    call.on_data = on_data;
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.status, 503);
    assert_int_equal(rig->heard.pieces.len, 0);
    rig_free(rig);
}

static void give_up(void *arg, struct str piece)
{
    struct rig *rig = arg;
    buf_add(&rig->heard.pieces, piece);
    http_client_abort(rig->client);
}

TEST(a_stream_can_be_given_up_from_within)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/stream");
    call.on_data = give_up;
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->parked != NULL);
    http_stream_write(rig->parked, STR("one"));
    http_stream_write(rig->parked, STR("two"));
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_int_equal(rig->heard.err.rc, RC_SHUTDOWN);
    assert_buf(&rig->heard.pieces, "one");
    http_stream_close(rig->parked);
    rig_free(rig);
}

/* ---- time and failure */

TEST(a_call_without_an_answer_times_out)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/park");
    call.timeout_ms = 50;
    send_and_wait(rig, &call);
    assert_int_equal(rig->heard.err.rc, RC_TIMEOUT);
    assert_non_null(strstr(rig->heard.err.text, "no answer within 50 ms"));
    struct http_call next = get(rig, "/next"); /* on a connection of its own */
    send_and_wait(rig, &next);
    assert_int_equal(rig->heard.status, 200);
    http_respond(rig->parked, &(struct http_answer){.status = 200});
    rig_free(rig);
}

TEST(a_call_in_the_queue_times_out_too)
{
    struct rig *rig = rig_new(&limits);
    struct http_call endless = get(rig, "/park");
    struct http_call queued = get(rig, "/never");
    queued.timeout_ms = 30;
    http_client_send(rig->client, &endless);
    send_and_wait(rig, &queued);
    assert_int_equal(rig->heard.err.rc, RC_TIMEOUT);
    http_respond(rig->parked, &(struct http_answer){.status = 200});
    WAIT_FOR(rig, rig->heard.done == 2);
    assert_int_equal(rig->heard.status, 200);
    rig_free(rig);
}

TEST(nobody_listening_is_said_clearly)
{
    struct rig *rig = rig_new(&limits);
    http_server_close(rig->server, NULL, NULL); /* and its port is free again */
    struct http_call call = get(rig, "/x");
    WAIT_FOR(rig, uv_loop_alive(&rig->loop) == 0);
    send_and_wait(rig, &call);
    char want[128];
    snprintf(want, sizeof want, "cannot reach http://127.0.0.1:%u: connection refused", rig->port);
    assert_int_equal(rig->heard.err.rc, RC_UNREACHABLE);
    assert_string_equal(rig->heard.err.text, want);
    rig->server = http_server_new(&rig->loop, &limits, handle, refuse, rig);
    rig_free(rig);
}

TEST(aborting_ends_all_calls_and_the_client_lives_on)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/park");
    http_client_send(rig->client, &call);
    http_client_send(rig->client, &call);
    WAIT_FOR(rig, rig->parked != NULL);
    http_client_abort(rig->client);
    assert_int_equal(rig->heard.done, 2);
    assert_int_equal(rig->heard.err.rc, RC_SHUTDOWN);
    http_respond(rig->parked, &(struct http_answer){.status = 200});
    struct http_call next = get(rig, "/next");
    send_and_wait(rig, &next);
    assert_int_equal(rig->heard.status, 200);
    rig_free(rig);
}

TEST(a_name_is_looked_up)
{
    struct rig *rig = rig_new(&limits);
    char url[64];
    snprintf(url, sizeof url, "http://localhost:%u/", rig->port);
    struct http_client *by_name;
    assert_int_equal(http_client_new(&rig->loop, str_c(url), STR(""), &by_name, NULL), RC_OK);
    struct http_call call = get(rig, "/x");
    http_client_send(by_name, &call);
    WAIT_FOR(rig, rig->heard.done == 1);
    assert_int_equal(rig->heard.status, 200);
    assert_buf(&rig->asked, "GET /x [] \n");
    http_client_free(by_name);
    rig_free(rig);
}

TEST(a_client_can_be_freed_at_any_moment)
{
    struct rig *rig = rig_new(&limits);
    struct http_call call = get(rig, "/x");
    for (int turns = 0; turns < 6; turns++) { /* connecting, sending, waiting, ... */
        http_client_send(rig->client, &call);
        for (int i = 0; i < turns; i++)
            uv_run(&rig->loop, UV_RUN_NOWAIT);
        http_client_free(rig->client);
        assert_int_equal(rig->heard.done, turns + 1);
        connect_client(rig);
    }
    rig_free(rig);
}
