#include "base/buf.h"

#include "base/test/test.h"

#include <inttypes.h>
#include <stdio.h>

#define assert_buf(buf, expected) assert_true(str_eq(buf_str(&(buf)), STR(expected)))

TEST(what_is_added_stands_in_order)
{
    CLEANUP(buf_free) struct buf b = BUF(1000);
    buf_add(&b, STR("job "));
    buf_add_u64(&b, 7);
    buf_add_char(&b, ',');
    buf_printf(&b, "%s-%d", "x", 3);
    assert_buf(b, "job 7,x-3");
}

TEST(numbers_are_written_to_their_limits)
{
    CLEANUP(buf_free) struct buf b = BUF(1000);
    buf_add_u64(&b, 0);
    buf_add_char(&b, ' ');
    buf_add_u64(&b, UINT64_MAX);
    buf_add_char(&b, ' ');
    buf_add_i64(&b, INT64_MIN);
    assert_buf(b, "0 18446744073709551615 -9223372036854775808");
    char text[32];
    uint64_t number = 1;
    for (int digits = 1; digits <= 20; digits++, number = number * 10 + (uint64_t)digits % 10) {
        buf_clear(&b);
        buf_add_u64(&b, number);
        snprintf(text, sizeof text, "%" PRIu64, number);
        assert_true(str_eq(buf_str(&b), str_c(text)));
    }
}

TEST(a_full_buffer_keeps_what_it_had_and_remembers)
{
    CLEANUP(buf_free) struct buf b = BUF(4);
    buf_add(&b, STR("abc"));
    buf_add(&b, STR("de"));
    assert_true(b.overflow);
    assert_buf(b, "abc");
    assert_null(buf_reserve(&b, 2));
}

TEST(a_buffer_may_be_filled_to_the_last_byte)
{
    CLEANUP(buf_free) struct buf b = BUF(4);
    buf_add(&b, STR("abcd"));
    assert_false(b.overflow);
    buf_add(&b, STR(""));
    assert_false(b.overflow);
}

TEST(printing_needs_no_more_room_than_its_text)
{
    CLEANUP(buf_free) struct buf b = BUF(4);
    buf_printf(&b, "%d", 1234);
    assert_false(b.overflow);
    assert_buf(b, "1234");
    buf_printf(&b, "%d", 5);
    assert_true(b.overflow);
    assert_buf(b, "1234");
}

TEST(clearing_empties_and_forgives)
{
    CLEANUP(buf_free) struct buf b = BUF(2);
    buf_add(&b, STR("abc"));
    buf_clear(&b);
    buf_add(&b, STR("ab"));
    assert_false(b.overflow);
    assert_buf(b, "ab");
}

TEST(dropping_from_the_front_keeps_the_rest)
{
    CLEANUP(buf_free) struct buf b = BUF(100);
    buf_add(&b, STR("line\nrest"));
    buf_drop_front(&b, 5);
    assert_buf(b, "rest");
    buf_drop_front(&b, 4);
    assert_buf(b, "");
    buf_drop_front(&b, 0);
}

TEST(reserved_room_counts_only_when_it_was_used)
{
    CLEANUP(buf_free) struct buf b = BUF(100);
    char *to = buf_reserve(&b, 50);
    assert_non_null(to);
    assert_int_equal(b.len, 0);
    to[0] = 'x';
    b.len++;
    assert_buf(b, "x");
}

TEST(what_may_stand_in_an_address_is_left_and_all_else_encoded)
{
    CLEANUP(buf_free) struct buf b = BUF(100);
    buf_add_encoded(&b, STR("aZ9-._~ /%\xc3\xbc"));
    assert_buf(b, "aZ9-._~%20%2F%25%C3%BC");
}
