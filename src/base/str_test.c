#include "base/str.h"

#include "base/test/test.h"

#include <string.h>

#define assert_str(actual, expected) assert_true(str_eq((actual), STR(expected)))

TEST(texts_are_equal_when_their_bytes_are)
{
    assert_true(str_eq(STR("mail"), str_of("mailbox", 4)));
    assert_false(str_eq(STR("mail"), STR("nail")));
    assert_true(str_eq(STR(""), str_of(NULL, 0)));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
}

TEST(case_is_ignored_for_ascii_letters_only)
{
    assert_true(str_eq_nocase(STR("Content-TYPE"), STR("content-type")));
    assert_false(str_eq_nocase(STR("@"), STR("`")));
    assert_false(
        str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4"))); /* a with dots, large and small */
}

TEST(a_prefix_sorts_before_what_it_begins)
{
    assert_true(str_cmp(STR("job"), STR("jobs")) < 0);
    assert_true(str_cmp(STR("jobs"), STR("job")) > 0);
    assert_true(str_cmp(STR(""), str_of(NULL, 0)) == 0);
    assert_true(str_cmp(STR("\x7f"), STR("\x80")) < 0); /* bytes are unsigned */
}

TEST(cutting_yields_every_piece_and_then_a_null_rest)
{
    struct str rest = STR("a,,b");
    assert_str(str_cut(&rest, ','), "a");
    assert_str(str_cut(&rest, ','), "");
    assert_non_null(rest.ptr);
    assert_str(str_cut(&rest, ','), "b");
    assert_null(rest.ptr);
    assert_str(str_cut(&rest, ','), "");
}

TEST(a_separator_at_the_end_leaves_an_empty_piece)
{
    struct str rest = STR("a,");
    assert_str(str_cut(&rest, ','), "a");
    assert_non_null(rest.ptr);
    assert_int_equal(rest.len, 0);
}

TEST(what_lies_behind_the_end_is_empty)
{
    assert_str(str_from(STR("abc"), 1), "bc");
    assert_str(str_from(STR("abc"), 9), "");
    assert_str(str_from(str_of(NULL, 0), 0), "");
}

TEST(trimming_takes_blanks_from_both_ends_only)
{
    assert_str(str_trim(STR(" \t a b\r\n")), "a b");
    assert_str(str_trim(STR(" \n ")), "");
}

TEST(numbers_are_exact_to_the_last_one_that_fits)
{
    int64_t i;
    uint64_t u;
    assert_true(str_to_i64(STR("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_false(str_to_i64(STR("9223372036854775808"), &i));
    assert_false(str_to_i64(STR("-9223372036854775809"), &i));
    assert_false(str_to_u64(STR("18446744073709551616"), &u));
}

TEST(what_is_not_wholly_a_number_is_refused)
{
    static const char *const bad[] = {"", "-", "+1", " 1", "1 ", "0x1", "1.0", "--1", "1e3"};
    int64_t i = 7;
    for (size_t k = 0; k < COUNT_OF(bad); k++)
        assert_false(str_to_i64(str_c(bad[k]), &i));
    assert_int_equal(i, 7);
}

TEST(utf8_is_told_from_what_only_looks_like_it)
{
    static const char *const good[] = {"plain",        "\xc3\xa4",
                                       "\xe2\x82\xac", "\xf0\x9f\x94\x94",
                                       "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80",             /* begins in the middle */
        "\xc0\xaf",         /* overlong */
        "\xe0\x80\xaf",     /* overlong */
        "\xf0\x80\x80\xaf", /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xe2\x82",         /* cut */
        "\xff",
    };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(str_is_utf8(str_c(good[i])));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(str_is_utf8(str_c(bad[i])));
}

TEST(the_head_of_a_text_cuts_no_character_in_two)
{
    struct str text = STR("ab\xe2\x82\xac"); /* ab and the euro sign */
    assert_str(str_head(text, 9), "ab\xe2\x82\xac");
    assert_str(str_head(text, 5), "ab\xe2\x82\xac");
    assert_str(str_head(text, 4), "ab");
    assert_str(str_head(text, 3), "ab");
    assert_str(str_head(text, 1), "a");
    assert_str(str_head(text, 0), "");
}

TEST(the_head_of_bytes_that_are_no_text_is_still_bounded)
{
    assert_int_equal(str_head(STR("\x80\x80\x80\x80\x80\x80\x80\x80"), 6).len, 2);
}

TEST(what_is_taken_off_the_front_must_be_there)
{
    struct str rest = STR("07:x");
    unsigned value;
    assert_false(str_take_char(&rest, ':'));
    assert_false(str_take_digits(&rest, 3, &value));
    assert_true(str_take_digits(&rest, 2, &value));
    assert_int_equal(value, 7);
    assert_true(str_take_char(&rest, ':'));
    assert_true(str_eq(rest, STR("x")));
    rest = STR("1");
    assert_false(str_take_digits(&rest, 2, &value));
    assert_int_equal(rest.len, 1);
}

TEST(the_hash_never_changes)
{
    /* Written down once: stored data may depend on it. */
    assert_true(str_hash(STR("")) == str_hash(str_of(NULL, 0)));
    assert_true(str_hash(STR("default")) == UINT64_C(0x0b5337a8cac8da90));
    assert_true(str_hash(STR("a")) != str_hash(STR("b")));
}

TEST(control_characters_are_known_in_all_their_forms)
{
    static const char *const controls[] = {"\n",       "\033",         "\x7f",
                                           "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6",
                                           "\xd8\x9c", "\xe2\x80\xa8"};
    static const char *const others[] = {
        "a", " ", "\xc2\xa0", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x9b", ""};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(controls); i++)
        assert_int_equal(str_control_len(str_c(controls[i])), strlen(controls[i]));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_int_equal(str_control_len(str_c(others[i])), 0);
}
