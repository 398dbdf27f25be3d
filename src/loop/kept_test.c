#include "loop/kept.h"

#include "base/test/test.h"

static bool has(struct kept *kept, const char *key, const char *text)
{
    CLEANUP(buf_free) struct buf out = BUF(1 << 10);
    return kept_get(kept, str_c(key), &out) && str_eq(buf_str(&out), str_c(text));
}

TEST(a_text_is_found_by_its_key_until_others_take_its_room)
{
    struct kept *kept = kept_new(INT64_MAX);
    assert_false(has(kept, "a", "1"));
    kept_put(kept, STR("a"), STR("1"));
    assert_true(has(kept, "a", "1"));
    assert_false(has(kept, "b", "1"));
    for (int i = 0; i < KEPT_MAX; i++)
        kept_put(kept, STR("b"), STR("2"));
    assert_false(has(kept, "a", "1"));
    assert_true(has(kept, "b", "2"));
    kept_free(kept);
}

TEST(a_text_is_not_found_when_its_time_is_over)
{
    struct kept *kept = kept_new(0);
    kept_put(kept, STR("a"), STR("1"));
    assert_false(has(kept, "a", "1"));
    kept_free(kept);
}

TEST_GROUP(NULL, NULL)
