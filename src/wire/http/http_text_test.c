#include "wire/http/http.h"

#include "base/test/test.h"
#include "wire/http/http_text.h"

#include <string.h>

static void assert_str(struct str got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
}

TEST(escapes_are_decoded)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str text;
    assert_true(http_decode(&arena, STR("a%20b%2fc+d"), false, &text));
    assert_str(text, "a b/c+d");
    assert_true(http_decode(&arena, STR("a+b%2B"), true, &text));
    assert_str(text, "a b+");
}

TEST(bad_escapes_are_not)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str text;
    assert_false(http_decode(&arena, STR("%"), false, &text));
    assert_false(http_decode(&arena, STR("%4"), false, &text));
    assert_false(http_decode(&arena, STR("%4g"), false, &text));
    assert_false(http_decode(&arena, STR("a%00b"), false, &text));
}

TEST(a_parameter_is_found_by_its_decoded_name)
{
    struct http_request req = {.query = STR("limit=5&st%61te=a%26b+c&flag&bad=%")};
    struct str value;
    assert_true(http_request_param(&req, STR("limit"), &value));
    assert_str(value, "5");
    assert_true(http_request_param(&req, STR("state"), &value));
    assert_str(value, "a&b c");
    assert_true(http_request_param(&req, STR("flag"), &value));
    assert_int_equal(value.len, 0);
    assert_false(http_request_param(&req, STR("bad"), &value));
    assert_false(http_request_param(&req, STR("lim"), &value));
    arena_free(&req.arena);
}

TEST(dates_are_written_as_http_has_them)
{
    char text[HTTP_DATE_MAX];
    assert_str(http_date(text, 784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(header_text_has_no_control_bytes)
{
    assert_true(http_is_header_text(STR("plain text, \ttabs and \xc3\xa4")));
    assert_false(http_is_header_text(STR("two\r\nlines")));
    assert_false(http_is_header_text(STR("a\0b")));
}

static bool accepts(const char *accept, const char *type)
{
    struct http_header headers[] = {{STR("Host"), STR("x")}, {STR("ACCEPT"), str_c(accept)}};
    struct http_request req = {.headers = headers, .header_count = 2};
    return http_request_accepts(&req, str_c(type));
}

TEST(an_answer_must_be_of_a_type_the_client_takes)
{
    struct http_request silent = {0};
    assert_true(http_request_accepts(&silent, STR("application/json")));
    assert_true(accepts("", "application/json"));
    assert_true(accepts("*/*", "application/json"));
    assert_true(accepts("text/html, */*;q=0.1", "application/json"));
    assert_true(accepts("application/*", "application/json"));
    assert_true(accepts("APPLICATION/JSON ; charset=utf-8", "application/json"));
    assert_false(accepts("text/html", "application/json"));
    assert_false(accepts("application/xml, text/*", "application/json"));
    assert_false(accepts("application/jso", "application/json"));
    assert_false(accepts("app/*", "application/json"));
}

static struct http_request with_two(const char *name, const char *first, const char *second,
                                    struct http_header headers[2])
{
    headers[0] = (struct http_header){str_c(name), str_c(first)};
    headers[1] = (struct http_header){str_c(name), str_c(second)};
    return (struct http_request){.headers = headers, .header_count = 2};
}

static bool takes_gzip(const char *first, const char *second)
{
    struct http_header headers[2];
    struct http_request req = with_two("Accept-Encoding", first, second, headers);
    return http_request_takes_coding(&req, STR("gzip"));
}

static bool has_tag(const char *first, const char *second)
{
    struct http_header headers[2];
    struct http_request req = with_two("if-none-match", first, second, headers);
    return http_request_has_tag(&req, STR("\"3.a\""));
}

TEST(a_list_may_be_spread_over_several_headers)
{
    assert_true(takes_gzip("gzip", ""));
    assert_true(takes_gzip("br", "deflate, GZIP;q=0.5"));
    assert_true(takes_gzip("br", "*"));
    assert_false(takes_gzip("br", "*;q=0"));
    assert_false(takes_gzip("*", "gzip;q=0"));
    assert_false(takes_gzip("gzip;q=0", "*"));
    assert_true(takes_gzip("*;q=0", "gzip"));
    assert_true(has_tag("\"x\"", "\"y\", W/\"3.a\""));
    assert_true(has_tag("\"x\"", "*"));
    assert_false(has_tag("\"x\"", "3.a"));
}

TEST(of_what_a_client_says_the_closest_counts)
{
    assert_false(accepts("application/json;q=0, */*", "application/json"));
    assert_false(accepts("*/*, application/json; q=0.000", "application/json"));
    assert_false(accepts("application/*;q=0, */*", "application/json"));
    assert_true(accepts("*/*;q=0, application/json", "application/json"));
    assert_true(accepts("application/*;q=0, application/json;q=0.001", "application/json"));
    assert_true(accepts("text/plain;q=", "text/plain"));
}
