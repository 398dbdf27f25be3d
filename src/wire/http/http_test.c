/* What the server answers, and in which order. */
#include "wire/http/http_rig_test.h"

/* ---- answers */

TEST(an_answer_has_all_it_needs)
{
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

TEST(a_head_request_gets_the_length_but_no_body)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "HEAD /abc HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    hear_end(&p);
    assert_true(has_heard(&p, "Content-Length: 4\r\n"));
    assert_false(has_heard(&p, "/abc"));
    hang_up(&p);
    rig_free(rig);
}

TEST(a_204_has_neither_length_nor_body)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /nothing HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "204 No Content\r\n");
    assert_false(has_heard(&p, "Content-Length"));
    hang_up(&p);
    rig_free(rig);
}

TEST(headers_of_an_answer_cannot_be_split)
{
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

TEST(a_request_cut_into_single_bytes_is_answered)
{
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

TEST(a_thousand_requests_use_one_connection)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    for (int i = 0; i < 1000; i++) {
        say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi");
        hear(&p, "\r\n\r\nhi");
        buf_clear(&p.heard);
    }
    assert_int_equal(rig->asked, 1000);
    assert_int_equal(http_server_connections(rig->server), 1);
    hang_up(&p);
    rig_free(rig);
}

TEST(a_large_body_comes_in_and_goes_out_whole)
{
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

TEST(pipelined_requests_are_answered_in_order)
{
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

TEST(a_pipelined_request_waits_for_the_one_before)
{
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

TEST(a_flood_behind_a_parked_request_is_held_back)
{
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

TEST(a_refusal_is_a_problem_document_and_closes)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n");
    hear_refusal(&p, "400 Bad Request");
    assert_int_equal(rig->asked, 0);
    hang_up(&p);
    rig_free(rig);
}

TEST(a_refusal_is_heard_over_an_unfinished_upload)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 100; i++) /* a socket closed over these would be reset */
        say(&p, "some more of the body that nobody is going to read");
    hear_refusal(&p, "413 Content Too Large");
    hang_up(&p);
    rig_free(rig);
}

TEST(every_refusal_has_its_status)
{
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

TEST(a_long_target_is_told_so)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET /");
    say_letters(&p, 300);
    hear_refusal(&p, "414 URI Too Long");
    hang_up(&p);
    rig_free(rig);
}

TEST(a_large_head_is_told_so)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "GET / HTTP/1.1\r\n" HOST "X: ");
    say_letters(&p, 1100);
    hear_refusal(&p, "431 Request Header Fields Too Large");
    hang_up(&p);
    rig_free(rig);
}

TEST(one_connection_too_many_is_503)
{
    struct rig *rig = rig_new(&usual);
    struct peer friends[3];
    for (size_t i = 0; i < COUNT_OF(friends); i++)
        friends[i] = dial_friend(rig);
    struct peer late = dial(rig);
    say(&late, "GET / HTTP/1.1\r\n" HOST "\r\n");
    hear_refusal(&late, "503 Service Unavailable");
    assert_int_equal(rig->asked, 3);
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

TEST(a_client_that_expects_a_100_gets_it_once)
{
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

TEST(a_body_that_is_too_large_gets_no_100)
{
    struct rig *rig = rig_new(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
            "Content-Length: 1000000\r\n\r\n");
    hear_refusal(&p, "413 Content Too Large");
    hang_up(&p);
    rig_free(rig);
}
