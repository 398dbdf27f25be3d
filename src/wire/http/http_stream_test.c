/* Answers without an end. */
#include "wire/http/http_rig_test.h"

/* ---- streams */

static void stream_write(struct rig *rig, const char *text)
{
    assert_int_equal(http_stream_write(rig->parked, str_c(text)), RC_OK);
}

TEST(a_stream_is_sent_as_it_is_written)
{
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

TEST(a_stream_to_http_1_0_has_no_chunks)
{
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

TEST(a_stream_that_is_only_asked_for_its_head_has_no_body)
{
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

TEST(a_stream_whose_reader_is_slow_is_bounded)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial_with_window(rig, 4096);
    say(&p, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, NULL, rig->parked != NULL);
    char bytes[5000] = "data";
    struct str piece = str_of(bytes, sizeof bytes);
    size_t count = fill(rig, piece);
    assert_true(http_stream_unsent(rig->parked) <= usual.stream_bytes_max + 16);
    WAIT_FOR(rig, &p, (listen_up(&p), http_stream_unsent(rig->parked) == 0));
    count += fill(rig, piece);
    http_stream_close(rig->parked);
    hear(&p, "\r\n0\r\n\r\n");
    assert_int_equal(count_heard(&p, "data"), count);
    hang_up(&p);
    rig_free(rig);
}

TEST(a_stream_learns_that_its_reader_has_left)
{
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
