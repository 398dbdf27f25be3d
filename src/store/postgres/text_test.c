#include "store/postgres/text.h"

#include "base/test/test.h"

#include <string.h>

static void comes_back(struct str s, bool changed)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str coded = pg_text_encode(&arena, s);
    assert_int_equal(coded.ptr != s.ptr, changed);
    assert_true(str_is_utf8(coded));
    assert_true(coded.len == 0 || memchr(coded.ptr, 0, coded.len) == NULL);
    assert_true(str_eq(pg_text_decode(&arena, coded), s));
}

TEST(ordinary_text_is_left_as_it_is)
{
    comes_back(STR(""), false);
    comes_back(STR("nightly"), false);
    comes_back(STR("caf\xc3\xa9 \xf0\x9f\x94\x94 \xf4\x8f\xbb\xbf"), false);
}

TEST(any_bytes_come_back)
{
    comes_back(STR("a\0b\xff'; DROP TABLE job; --"), true);
    comes_back(STR("\xc3"), true);
    comes_back(STR("\xf4\x8f\xbf\xbf"), true); /* one of our own characters */
    comes_back(STR("\xf4\x8f"), true);
    for (int c = 0; c < 256; c++) {
        char bytes[3] = {(char)c, 'x', (char)c};
        comes_back(str_of(bytes, 3), c == 0 || c >= 128);
    }
}

TEST(texts_that_were_cut_within_a_character_can_be_joined)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str head = pg_text_encode(&arena, STR("caf\xc3"));
    struct str tail = pg_text_encode(&arena, STR("\xa9!"));
    struct str both = arena_printf(&arena, "%.*s%.*s", STR_ARG(head), STR_ARG(tail));
    assert_true(str_eq(pg_text_decode(&arena, both), STR("caf\xc3\xa9!")));
}
