#include "job/breaker.h"

#include "base/test/test.h"

static const struct breaker_rule rule = {
    .window_ms = 60000, .calls_min = 5, .percent = 50, .rest_ms = 30000};

static void count(struct breaker_window *w, int64_t now_ms, unsigned good, unsigned bad)
{
    for (; good > 0; good--)
        breaker_count(w, &rule, now_ms, false);
    for (; bad > 0; bad--)
        breaker_count(w, &rule, now_ms, true);
}

TEST(half_of_at_least_five_calls_trip_it)
{
    struct breaker_window w = {0};
    count(&w, 1000, 0, 4);
    assert_false(breaker_trips(&w, &rule));
    count(&w, 1000, 1, 0);
    assert_true(breaker_trips(&w, &rule));
    count(&w, 1000, 4, 0); /* 4 of 9 */
    assert_false(breaker_trips(&w, &rule));
}

TEST(success_alone_never_trips_it)
{
    struct breaker_rule strict = rule;
    strict.percent = 1;
    struct breaker_window w = {0};
    count(&w, 1000, 1000, 0);
    assert_false(breaker_trips(&w, &strict));
}

TEST(what_is_older_than_the_window_is_forgotten)
{
    struct breaker_window w = {0};
    count(&w, 100000, 0, 4);
    count(&w, 100000 + 35000, 0, 1); /* in the other half, and still lately */
    assert_true(breaker_trips(&w, &rule));
    count(&w, 100000 + 65000, 1, 0); /* the first four are gone */
    assert_int_equal(w.calls + w.calls_before, 2);
    count(&w, 100000 + 600000, 1, 0);
    assert_int_equal(w.calls + w.calls_before, 1);
    assert_int_equal(w.failures + w.failures_before, 0);
}
