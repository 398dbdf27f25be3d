#include "server/cluster/rest.h"

#include "base/test/test.h"

enum { NOW = 5000 };

TEST(a_server_that_answers_is_tried_whenever_somebody_wants_to)
{
    struct rest rest = {0};
    assert_true(rest_may_try(&rest, NOW) && rest_may_try(&rest, NOW));
}

TEST(a_server_that_was_missed_is_tried_once_and_then_less_and_less_often)
{
    struct rest rest = {0};
    uint64_t now_ms = NOW;
    rest_missed(&rest, now_ms);
    for (uint64_t pause_ms = REST_MIN_MS; pause_ms < 4 * REST_MAX_MS; pause_ms *= 2) {
        uint64_t until_ms = now_ms + (pause_ms < REST_MAX_MS ? pause_ms : REST_MAX_MS);
        assert_false(rest_may_try(&rest, until_ms - 1));
        assert_true(rest_may_try(&rest, until_ms));
        assert_false(rest_may_try(&rest, until_ms)); /* by another one */
        now_ms = until_ms;
        rest_missed(&rest, now_ms);
    }
}

TEST(what_is_missed_at_one_moment_counts_once)
{
    struct rest rest = {0};
    for (int i = 0; i < 100; i++)
        rest_missed(&rest, NOW + (uint64_t)i);
    assert_true(rest_may_try(&rest, NOW + REST_MIN_MS));
}

TEST(a_server_that_was_heard_again_begins_anew)
{
    struct rest rest = {0};
    rest_missed(&rest, NOW);
    rest_missed(&rest, NOW + 10000);
    rest_heard(&rest);
    assert_true(rest_may_try(&rest, NOW + 10001) && rest_may_try(&rest, NOW + 10001));
    rest_missed(&rest, NOW + 20000);
    assert_true(rest_may_try(&rest, NOW + 20000 + REST_MIN_MS));
}

TEST(a_try_of_which_nothing_is_heard_gives_way_to_another)
{
    struct rest rest = {0};
    rest_missed(&rest, NOW);
    assert_true(rest_may_try(&rest, NOW + REST_MIN_MS));
    assert_false(rest_may_try(&rest, NOW + 10000));
    assert_true(rest_may_try(&rest, NOW + 20000));
}
