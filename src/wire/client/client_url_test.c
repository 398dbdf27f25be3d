#include "wire/client/client_url.h"

#include "base/test/test.h"

#include <string.h>

TEST(a_url_is_taken_apart)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct client_url url;
    assert_int_equal(client_url_parse(&arena, STR("http://[::1]:7420/under/here/"), &url, NULL),
                     RC_OK);
    assert_string_equal(url.text, "http://[::1]:7420/under/here");
    assert_string_equal(url.host, "::1");
    assert_string_equal(url.port, "7420");
    assert_true(str_eq(url.authority, STR("[::1]:7420")));
    assert_true(str_eq(url.prefix, STR("/under/here")));
}

TEST(the_port_is_80_unless_said)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct client_url url;
    assert_int_equal(client_url_parse(&arena, STR("http://belfry"), &url, NULL), RC_OK);
    assert_string_equal(url.host, "belfry");
    assert_string_equal(url.port, "80");
    assert_int_equal(url.prefix.len, 0);
}

static enum rc parse(const char *text)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct client_url url;
    return client_url_parse(&arena, str_c(text), &url, NULL);
}

TEST(https_is_not_supported)
{
    assert_int_equal(parse("https://belfry"), RC_UNSUPPORTED);
}

TEST(a_password_is_not_repeated)
{
    static const char *const urls[] = {"http://me:secret@belfry:7420", "https://me:secret@belfry",
                                       "me:secret@belfry", "http://a@me:secret@belfry/"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct client_url url;
        struct err err;
        assert_int_not_equal(client_url_parse(&arena, str_c(urls[i]), &url, &err), RC_OK);
        assert_null(strstr(err.text, "secret"));
        assert_non_null(strstr(err.text, "@belfry"));
    }
}

TEST(anything_else_is_invalid)
{
    static const char *const bad[] = {
        "",
        "belfry:7420",
        "http://",
        "http:///x",
        "http://belfry:0",
        "http://belfry:99999",
        "http://belfry:port",
        "http://user@belfry",
        "http://[::1",
        "http://[::1]7420",
        "http://belfry/x?y",
        "http://belfry/a b",
        "http://bel fry",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(parse(bad[i]), RC_INVALID);
}
