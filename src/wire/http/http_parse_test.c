/* Everything is fed twice, whole and byte by byte: where packets end must not matter. */
#include "base/mem.h"

#include "base/test/test.h"
#include "wire/http/http_parse.h"

#include <stdlib.h>
#include <string.h>

#define HOST "Host: belfry\r\n"

static const struct http_limits limits = {
    .head_bytes_max = 512,
    .target_bytes_max = 64,
    .body_bytes_max = 100,
};

struct reading {
    struct http_request req;
    struct http_parser *parser;
    enum http_parse result;
    size_t used;
};

/* Stops at the end of the first request. */
static struct reading *read_pieces(struct str bytes, size_t piece)
{
    struct reading *r = MEM_NEW(struct reading);
    r->parser = http_parser_new(&limits, &r->req);
    r->result = HTTP_PARSE_MORE;
    while (bytes.len > 0 && r->result <= HTTP_PARSE_HEAD) {
        struct str now = str_of(bytes.ptr, bytes.len < piece ? bytes.len : piece);
        size_t used;
        r->result = http_parser_feed(r->parser, now, &used);
        bytes = str_from(bytes, used);
        r->used += used;
    }
    return r;
}

static void done(struct reading *r)
{
    http_parser_free(r->parser);
    free(r);
}

static int status_of(const struct reading *r)
{
    return r->result == HTTP_PARSE_REFUSED ? http_parser_refusal(r->parser).status : 0;
}

/* The status of the refusal, 0 for a request that is complete, -1 for one that is not. */
static int verdict_on(struct str bytes)
{
    struct reading *whole = read_pieces(bytes, SIZE_MAX);
    struct reading *bytewise = read_pieces(bytes, 1);
    assert_int_equal(whole->result, bytewise->result);
    assert_int_equal(status_of(whole), status_of(bytewise));
    int verdict = whole->result == HTTP_PARSE_MORE ? -1 : status_of(whole);
    done(whole);
    done(bytewise);
    return verdict;
}

#define VERDICT(literal) verdict_on(STR(literal))

static void assert_str(struct str got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
}

/* ---- what is understood */

static void check_understood(struct reading *r)
{
    assert_int_equal(r->result, HTTP_PARSE_DONE);
    assert_int_equal(r->req.method, HTTP_METHOD_PUT);
    assert_str(r->req.path, "/jobs/a%20b");
    assert_str(r->req.query, "dry=1&x");
    assert_str(r->req.body, "hello");
    assert_str(http_request_header(&r->req, STR("x-color")), "dark blue");
    assert_null(http_request_header(&r->req, STR("X-Shape")).ptr);
    done(r);
}

TEST(a_request_is_understood_however_it_is_cut)
{
    struct str bytes = STR("PUT /jobs/a%20b?dry=1&x HTTP/1.1\r\n" HOST "X-Color:  dark blue \r\n"
                           "Content-Length: 5\r\n\r\nhello");
    for (size_t piece = 1; piece <= bytes.len; piece++)
        check_understood(read_pieces(bytes, piece));
}

TEST(a_chunked_body_is_put_together)
{
    struct str bytes = STR("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
                           "3\r\nhel\r\n2;why=not\r\nlo\r\n0\r\n\r\n");
    for (size_t piece = 1; piece <= bytes.len; piece++) {
        struct reading *r = read_pieces(bytes, piece);
        assert_int_equal(r->result, HTTP_PARSE_DONE);
        assert_int_equal(r->used, bytes.len);
        assert_str(r->req.body, "hello");
        assert_int_equal(r->req.header_count, 2);
        done(r);
    }
}

TEST(a_body_waits_until_its_head_was_looked_at)
{
    static const char *const heads[] = {
        "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n",
        "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        struct buf bytes = BUF(1024);
        buf_add(&bytes, str_c(heads[i]));
        buf_add(&bytes, i == 0 ? STR("hello") : STR("5\r\nhello\r\n0\r\n\r\n"));
        struct http_request req = {0};
        struct http_parser *parser = http_parser_new(&limits, &req);
        size_t used;
        assert_int_equal(http_parser_feed(parser, buf_str(&bytes), &used), HTTP_PARSE_HEAD);
        assert_int_equal(used, strlen(heads[i]));
        assert_int_equal(http_parser_phase(parser), HTTP_PHASE_BODY);
        assert_int_equal(http_parser_feed(parser, str_from(buf_str(&bytes), used), &used),
                         HTTP_PARSE_DONE);
        assert_str(req.body, "hello");
        http_parser_free(parser);
        buf_free(&bytes);
    }
}

TEST(bytes_behind_a_request_are_left_alone)
{
    struct reading *r = read_pieces(STR("GET /a HTTP/1.1\r\n" HOST "\r\nGET /b HT"), SIZE_MAX);
    assert_int_equal(r->result, HTTP_PARSE_DONE);
    assert_int_equal(r->used, strlen("GET /a HTTP/1.1\r\n" HOST "\r\n"));
    done(r);
}

TEST(a_parser_reads_one_request_after_another)
{
    struct str first = STR("POST /a HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi");
    struct str second = STR("GET /b HTTP/1.1\r\n" HOST "\r\n");
    struct reading *r = read_pieces(first, SIZE_MAX);
    size_t used;
    http_parser_reset(r->parser);
    assert_int_equal(http_parser_phase(r->parser), HTTP_PHASE_IDLE);
    assert_int_equal(http_parser_feed(r->parser, second, &used), HTTP_PARSE_DONE);
    assert_str(r->req.path, "/b");
    assert_int_equal(r->req.body.len, 0);
    assert_int_equal(r->req.header_count, 1);
    done(r);
}

TEST(empty_lines_before_a_request_are_skipped)
{
    assert_int_equal(VERDICT("\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 0);
}

TEST(an_offer_to_upgrade_is_declined)
{
    struct reading *r = read_pieces(STR("GET / HTTP/1.1\r\n" HOST "Connection: Upgrade\r\n"
                                        "Upgrade: h2c\r\n\r\n"),
                                    SIZE_MAX);
    assert_int_equal(r->result, HTTP_PARSE_DONE);
    assert_true(http_parser_keeps_alive(r->parser));
    done(r);
}

TEST(options_may_ask_about_the_server_itself)
{
    assert_int_equal(VERDICT("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 0);
    assert_int_equal(VERDICT("GET * HTTP/1.1\r\n" HOST "\r\n"), 400);
}

TEST(http_1_0_needs_no_host_and_is_not_kept_alive)
{
    struct reading *r =
        read_pieces(STR("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), SIZE_MAX);
    assert_int_equal(r->result, HTTP_PARSE_DONE);
    assert_true(http_parser_is_old(r->parser));
    assert_false(http_parser_keeps_alive(r->parser));
    done(r);
}

TEST(a_client_that_expects_a_100_is_noticed)
{
    struct reading *r = read_pieces(STR("POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                                        "Content-Length: 2\r\n\r\n"),
                                    SIZE_MAX);
    assert_int_equal(r->result, HTTP_PARSE_HEAD);
    assert_true(http_parser_wants_continue(r->parser));
    size_t used;
    assert_int_equal(http_parser_feed(r->parser, STR("h"), &used), HTTP_PARSE_MORE);
    assert_false(http_parser_wants_continue(r->parser));
    done(r);
}

TEST(nobody_waits_for_a_100_without_a_body)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                             "Content-Length: 0\r\n\r\n"),
                     0);
}

/* ---- what is refused */

TEST(an_unknown_method_is_501)
{
    assert_int_equal(VERDICT("BREW / HTTP/1.1\r\n" HOST "\r\n"), 501);
    assert_int_equal(VERDICT("GETTING / HTTP/1.1\r\n" HOST "\r\n"), 501);
    assert_int_equal(VERDICT("TRACE / HTTP/1.1\r\n" HOST "\r\n"), 501);
    assert_int_equal(VERDICT("CONNECT belfry:80 HTTP/1.1\r\n" HOST "\r\n"), 501);
}

TEST(what_is_not_http_is_400)
{
    assert_int_equal(VERDICT("\x16\x03\x01\x02\x00"), 400); /* TLS says hello */
    assert_int_equal(VERDICT("GET / FTP/1.1\r\n" HOST "\r\n"), 400);
}

TEST(another_version_is_505)
{
    assert_int_equal(VERDICT("GET / HTTP/3.0\r\n" HOST "\r\n"), 505);
    assert_int_equal(VERDICT("GET / HTTP/0.9\r\n" HOST "\r\n"), 505);
    assert_int_equal(VERDICT("GET / HTTP/1.2\r\n" HOST "\r\n"), 505);
    assert_int_equal(VERDICT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(a_first_line_of_another_form_is_400)
{
    assert_int_equal(VERDICT("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET /  HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1 \r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.10\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\rHost: belfry\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET\t/\tHTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET /\r\n"), 400); /* as HTTP/0.9 had it */
}

TEST(a_length_and_chunks_together_are_400)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                     400);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
                             "Content-Length: 5\r\n\r\n0\r\n\r\n"),
                     400);
}

TEST(two_lengths_are_400_even_if_they_agree)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n"
                             "Content-Length: 1\r\n\r\nx"),
                     400);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\nx"), 400);
}

TEST(a_length_that_is_no_number_is_400)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n"), 400);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\n"), 400);
    assert_int_equal(
        VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n"), 400);
}

TEST(an_unknown_transfer_encoding_is_501)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n"), 501);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n"),
                     501);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked;q=1\r\n\r\n"),
                     501);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n\r\n"), 501);
}

TEST(chunks_that_are_announced_twice_are_400)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                     400);
    assert_int_equal(
        VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n\r\n"), 400);
}

TEST(what_tells_pages_of_other_sites_apart_may_be_there_once)
{
    static const char *const names[] = {"Origin", "X-Belfry", "Sec-Fetch-Site"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct buf bytes = BUF(1024);
        buf_printf(&bytes, "POST / HTTP/1.1\r\n" HOST "%s: a\r\n%s: b\r\n\r\n", names[i], names[i]);
        assert_int_equal(verdict_on(buf_str(&bytes)), 400);
        buf_free(&bytes);
    }
}

#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

TEST(odd_chunk_sizes_are_400)
{
    static const char *const sizes[] = {
        "0x2", "+2", "-2",  " 2",   "2 ",     "2\t",        "",
        "2.0", "2_", "2\r", "2;\n", "2;a\rb", "2;a=\"\n\"", "10000000000000000"};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct buf bytes = BUF(1024);
        buf_printf(&bytes, CHUNKED "%s\r\nhi\r\n0\r\n\r\n", sizes[i]);
        assert_int_equal(verdict_on(buf_str(&bytes)), 400);
        buf_free(&bytes);
    }
}

TEST(a_chunk_that_will_not_fit_is_413_before_it_comes)
{
    assert_int_equal(VERDICT(CHUNKED "65\r\n"), 413); /* 101 */
    assert_int_equal(VERDICT(CHUNKED "FFFFFFFFFFFFFFFF\r\n"), 413);
    assert_int_equal(VERDICT(CHUNKED "64\r\n"), -1);
}

TEST(a_chunked_body_ends_in_one_way_only)
{
    assert_int_equal(VERDICT(CHUNKED "2\r\nhi\r\n0\r\n\r\n"), 0);
    assert_int_equal(VERDICT(CHUNKED "0\r\n\r\n"), 0);
    assert_int_equal(VERDICT(CHUNKED "2\r\nhi\r\n0\r\n\n"), 400);
    assert_int_equal(VERDICT(CHUNKED "2\r\nhi\r\n0\n\r\n"), 400);
    assert_int_equal(VERDICT(CHUNKED "2\r\nhi\n0\r\n\r\n"), 400);
    assert_int_equal(VERDICT(CHUNKED "2\nhi\r\n0\r\n\r\n"), 400);
    assert_int_equal(VERDICT(CHUNKED "2\r\nhi\r\n0\r\nX: a\r\n\r\n"), 400);
    assert_int_equal(VERDICT(CHUNKED "2\r\nhi\r\n0\r\nContent-Length: 9\r\n\r\n"), 400);
}

TEST(a_chunk_size_that_is_no_number_is_400)
{
    assert_int_equal(
        VERDICT("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), 400);
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST
                             "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"),
                     400);
}

TEST(a_missing_host_is_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n\r\n"), 400);
}

TEST(two_hosts_are_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.0\r\n" HOST HOST "\r\n"), 400);
}

TEST(a_host_with_strange_letters_is_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\nHost: [::1]:7420\r\n\r\n"), 0);
}

TEST(a_target_for_proxies_is_400)
{
    assert_int_equal(VERDICT("GET http://belfry/ HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET belfry:80 HTTP/1.1\r\n" HOST "\r\n"), 400);
}

TEST(control_bytes_in_a_target_are_400)
{
    assert_int_equal(VERDICT("GET /a\x01 HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET /a\0b HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET /a\x7f HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET /a#b HTTP/1.1\r\n" HOST "\r\n"), 400);
}

TEST(control_bytes_in_a_header_are_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n"), 400);
}

TEST(a_header_without_a_name_is_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "X\r\n\r\n"), 400);
}

TEST(two_headers_where_one_may_be_are_400)
{
    static const char *const names[] = {"Authorization", "Content-Type", "Idempotency-Key",
                                        "Last-Event-ID"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct buf bytes = BUF(1024);
        buf_printf(&bytes, "GET / HTTP/1.1\r\n" HOST "%s: a\r\nx: b\r\n%s: a\r\n\r\n", names[i],
                   names[i]);
        assert_int_equal(verdict_on(buf_str(&bytes)), 400);
        buf_free(&bytes);
    }
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "Accept: a\r\nAccept: b\r\n\r\n"), 0);
}

TEST(a_folded_header_is_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "X:\r\n\tb\r\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n Host: belfry\r\n\r\n"), 400);
}

TEST(a_line_that_ends_in_a_bare_lf_is_400)
{
    assert_int_equal(VERDICT("GET / HTTP/1.1\n" HOST "\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\nHost: belfry\n\r\n"), 400);
    assert_int_equal(VERDICT("GET / HTTP/1.1\r\n" HOST "\n"), 400);
}

TEST(an_unknown_expectation_is_417)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Expect: applause\r\n\r\n"), 417);
}

TEST(a_body_over_the_limit_is_413_before_it_comes)
{
    assert_int_equal(VERDICT("POST / HTTP/1.1\r\n" HOST "Content-Length: 101\r\n\r\n"), 413);
}

TEST(chunks_over_the_limit_are_413)
{
    struct buf bytes = BUF(4096);
    buf_add(&bytes, STR("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < 11; i++)
        buf_add(&bytes, STR("a\r\n0123456789\r\n"));
    assert_int_equal(verdict_on(buf_str(&bytes)), 413);
    buf_free(&bytes);
}

TEST(endless_framing_around_no_body_is_413)
{
    struct buf bytes = BUF(8192);
    buf_add(&bytes, STR("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1;"));
    for (int i = 0; i < 5000; i++)
        buf_add_char(&bytes, 'x');
    struct reading *r = read_pieces(buf_str(&bytes), 10);
    assert_int_equal(status_of(r), 413);
    done(r);
    buf_free(&bytes);
}

TEST(a_long_target_is_414)
{
    struct buf bytes = BUF(4096);
    buf_add(&bytes, STR("GET /"));
    for (int i = 0; i < 64; i++)
        buf_add_char(&bytes, 'x');
    assert_int_equal(verdict_on(buf_str(&bytes)), 414);
    buf_free(&bytes);
}

TEST(a_long_head_is_431)
{
    struct buf bytes = BUF(4096);
    buf_add(&bytes, STR("GET / HTTP/1.1\r\n" HOST "X: "));
    for (int i = 0; i < 500; i++)
        buf_add_char(&bytes, ' '); /* llhttp swallows these silently */
    assert_int_equal(verdict_on(buf_str(&bytes)), 431);
    buf_free(&bytes);
}

TEST(more_than_a_hundred_headers_are_431)
{
    struct buf bytes = BUF(4096);
    buf_add(&bytes, STR("GET / HTTP/1.1\r\n"));
    for (int i = 0; i < 101; i++)
        buf_add(&bytes, STR("a:\r\n")); /* 404 bytes: within the limit of the head */
    buf_add(&bytes, STR("\r\n"));
    assert_int_equal(verdict_on(buf_str(&bytes)), 431);
    buf_free(&bytes);
}
