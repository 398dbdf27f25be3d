#include "server/output/deletions.h"

#include "base/test/test.h"

#define NOW_MS INT64_C(1800000000000)
#define DAY_MS INT64_C(86400000)

TEST(what_is_old_goes_when_the_engine_says_so)
{
    struct moment now = {.wall_ms = NOW_MS};
    assert_false(deletions_wait(now, INT64_MIN, DAY_MS));
    assert_false(deletions_wait(now, NOW_MS, DAY_MS));
    assert_true(deletions_wait(now, NOW_MS + 1, DAY_MS));
    assert_true(deletions_wait(now, INT64_MAX, DAY_MS));
}

/* The clock was set, and the engine has had no turn since. */
TEST(but_not_by_a_time_that_the_engine_has_not_heard_of)
{
    struct moment now = {.wall_ms = NOW_MS, .shaken_ms = NOW_MS};
    assert_true(deletions_wait(now, INT64_MIN, DAY_MS));
    now.wall_ms += DAY_MS - 1;
    assert_true(deletions_wait(now, INT64_MIN, DAY_MS));
    now.wall_ms++;
    assert_false(deletions_wait(now, INT64_MIN, DAY_MS));
    assert_true(deletions_wait((struct moment){.wall_ms = NOW_MS, .unsure = true}, 0, DAY_MS));
}
