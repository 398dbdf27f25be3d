#include "server/auth/cookie.h"

#include "base/test/test.h"

#include <sodium.h>
#include <string.h>

static const struct session ours = {.key_id = 7, .number = 3, .ends_ms = 1234567890123};
static const unsigned char key[SEAL_KEY_BYTES] = {1, 2, 3};

TEST(what_was_sealed_is_opened)
{
    char text[COOKIE_TEXT];
    struct session opened;
    cookie_seal(&ours, key, text);
    assert_true(cookie_open(str_c(text), key, &opened));
    assert_int_equal(opened.key_id, ours.key_id);
    assert_int_equal(opened.number, ours.number);
    assert_int_equal(opened.ends_ms, ours.ends_ms);
}

TEST(two_cookies_of_one_session_have_nothing_in_common)
{
    char a[COOKIE_TEXT], b[COOKIE_TEXT];
    cookie_seal(&ours, key, a);
    cookie_seal(&ours, key, b);
    assert_string_not_equal(a, b);
}

TEST(another_key_opens_nothing)
{
    static const unsigned char other[SEAL_KEY_BYTES] = {1, 2, 4};
    char text[COOKIE_TEXT];
    struct session opened;
    cookie_seal(&ours, other, text);
    assert_false(cookie_open(str_c(text), key, &opened));
}

TEST(a_cookie_that_differs_in_one_byte_is_none)
{
    char text[COOKIE_TEXT];
    struct session opened;
    cookie_seal(&ours, key, text);
    for (size_t i = 0; text[i] != '\0'; i++) {
        char digit = text[i];
        for (int other = 1; other < 256; other++) {
            text[i] = (char)other;
            assert_true(cookie_open(str_c(text), key, &opened) == (text[i] == digit));
        }
        text[i] = digit;
    }
    assert_true(cookie_open(str_c(text), key, &opened));
}

TEST(a_cookie_that_is_longer_or_shorter_is_none)
{
    char text[COOKIE_TEXT + 8];
    struct session opened;
    cookie_seal(&ours, key, text);
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        assert_false(cookie_open(str_of(text, i), key, &opened));
    memcpy(text + len, "A", 2);
    assert_false(cookie_open(str_c(text), key, &opened));
    memcpy(text + len, "AAAA", 5);
    assert_false(cookie_open(str_c(text), key, &opened));
    assert_false(cookie_open(STR(" "), key, &opened));
}
