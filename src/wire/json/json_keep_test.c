#include "base/test/test.h"
#include "wire/json/json_keep.h"

static const struct str keys[] = {STR_INIT("b"), STR_INIT("long"), STR_INIT("nothing")};

static void expect_kept(const char *text, const char *expected)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    buf_add(&out, STR("[1,"));
    buf_add(&out, str_c(text));
    json_keep(&out, 3, keys, COUNT_OF(keys));
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr + 3, expected);
}

TEST(members_that_are_wanted_stay_in_their_order)
{
    expect_kept("{\"a\":1,\"b\":2,\"c\":3,\"long\":4}", "{\"b\":2,\"long\":4}");
    expect_kept("{\"long\":4,\"a\":1,\"b\":2}", "{\"long\":4,\"b\":2}");
    expect_kept("{\"a\":1}", "{}");
    expect_kept("{}", "{}");
}

TEST(values_are_moved_whole_whatever_they_hold)
{
    expect_kept("{\"a\":{\"b\":1},\"b\":{\"a\":[{},{\"b\":\"}\\\",\"}]},\"c\":[]}",
                "{\"b\":{\"a\":[{},{\"b\":\"}\\\",\"}]}}");
    expect_kept("{\"a\":\"b\",\"b\" : -1.5e3 , \"long\":null}", "{\"b\" : -1.5e3,\"long\":null}");
}

TEST(text_that_was_cut_off_is_left_alone)
{
    CLEANUP(buf_free) struct buf out = BUF(8);
    buf_add(&out, STR("{\"a\":1"));
    buf_add(&out, STR(",\"b\":2}"));
    assert_true(out.overflow);
    size_t len = out.len;
    json_keep(&out, 0, keys, COUNT_OF(keys));
    assert_int_equal(out.len, len);
}

TEST_GROUP(NULL, NULL)
