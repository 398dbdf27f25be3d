#include "job/failure.h"

#include "base/test/test.h"
#include "worker/run/error_tail.h"

#include <string.h>

static void assert_text(const char *printed, const char *want)
{
    struct arena arena = {0};
    struct error_tail tail = {0};
    error_tail_add(&tail, str_c(printed));
    struct str got = error_tail_text(&tail, &arena);
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
    error_tail_free(&tail);
    arena_free(&arena);
}

TEST(what_cannot_be_sent_is_replaced)
{
    assert_text("a\033[31mred\n", "a[31mred");
    assert_text("bad \xff byte\r\n", "bad ? byte");
    assert_text("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    assert_text("a\xc2\x9b"
                "31mred \xe2\x80\xae"
                "b",
                "a31mred b");
    assert_text("", "");
}

TEST(only_the_end_of_much_is_kept)
{
    struct arena arena = {0};
    struct error_tail tail = {0};
    for (int i = 0; i < 100000; i++)
        error_tail_add(&tail, STR("one more line of it\n"));
    error_tail_add(&tail, STR("the last\n"));
    assert_true(tail.bytes.cap <= 4 * FAILURE_TAIL_BYTES_MAX);
    assert_true(str_eq(failure_line(error_tail_text(&tail, &arena)), STR("the last")));
    static char flood[100000];
    memset(flood, 'x', sizeof flood);
    error_tail_add(&tail, str_of(flood, sizeof flood));
    assert_int_equal(error_tail_text(&tail, &arena).len, FAILURE_TAIL_BYTES_MAX);
    error_tail_free(&tail);
    arena_free(&arena);
}
