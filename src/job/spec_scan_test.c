#include "base/rng.h"
#include "base/test/test.h"
#include "job/spec_scan.h"

#include <stdlib.h>
#include <string.h>

static const char text[] =
    "{\"name\":\"a \\\"team\\\":\\\"x\\\\\",\"command\":[\"echo\",\"{\\\"team\\\":1\",\"]\"],"
    "\"env\":{\"team\":\"env\",\"k\":\"}\"},\"team\":\"data\",\"priority\":500,"
    "\"tags\":{\"priority\":\"1\"},\"draft\":true}";

static void assert_value(const char *key, const char *value)
{
    struct str found = spec_scan(str_c(text), str_c(key));
    if (!str_eq(found, str_c(value)))
        fail_msg("%s is %.*s, not %s", key, STR_ARG(found), value);
}

TEST(a_member_is_found_with_its_value_as_it_is_written)
{
    assert_value("priority", "500");
    assert_value("draft", "true");
    assert_value("env", "{\"team\":\"env\",\"k\":\"}\"}");
    assert_value("name", "\"a \\\"team\\\":\\\"x\\\\\"");
}

TEST(what_looks_like_a_member_deeper_inside_is_none)
{
    assert_value("team", "\"data\"");
    assert_value("k", "");
    assert_value("prio", "");
}

TEST(an_empty_object_has_no_members)
{
    assert_int_equal(spec_scan(STR("{}"), STR("a")).len, 0);
    assert_int_equal(spec_scan(STR(""), STR("a")).len, 0);
}

/* Each copy ends where its memory does, so that a sanitizer sees a look behind it. */
TEST(text_that_is_cut_off_or_damaged_is_not_left)
{
    struct rng rng = {.state = 1};
    for (size_t len = 0; len <= sizeof text - 1; len++) {
        char *copy = malloc(len > 0 ? len : 1);
        memcpy(copy, text, len);
        if (len > 0)
            copy[rng_below(&rng, len)] = "\"{}[]:,\\"[rng_below(&rng, 8)];
        struct str found = spec_scan(str_of(copy, len), STR("draft"));
        assert_true(found.len == 0 || (found.ptr > copy && found.ptr + found.len <= copy + len));
        free(copy);
    }
}
