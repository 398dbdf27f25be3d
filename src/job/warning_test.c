#include "job/warning.h"

#include "base/test/test.h"

static struct sketch runs(size_t count, uint64_t took_ms)
{
    struct sketch s = {0};
    for (size_t i = 0; i < count; i++)
        sketch_add(&s, took_ms);
    return s;
}

TEST(runs_longer_than_the_interval_are_worth_a_warning)
{
    struct warning warning;
    struct sketch slow = runs(20, 90000);
    assert_true(warning_of_pace(&slow, 60000, &warning));
    assert_int_equal(warning.kind, WARNING_SLOWER_THAN_INTERVAL);
    assert_int_equal(warning.interval_ms, 60000);
    assert_int_equal(warning.runs, 20);
    assert_in_range(warning.p95_ms, 84000, 96000);
    struct sketch fast = runs(20, 30000);
    assert_false(warning_of_pace(&fast, 60000, &warning));
}

TEST(one_slow_run_of_many_is_no_reason)
{
    struct warning warning;
    struct sketch took = runs(39, 1000);
    sketch_add(&took, 600000);
    assert_false(warning_of_pace(&took, 60000, &warning));
    sketch_add(&took, 600000);
    sketch_add(&took, 600000);
    assert_true(warning_of_pace(&took, 60000, &warning));
}

TEST(two_runs_say_nothing)
{
    struct warning warning;
    struct sketch took = runs(WARNING_RUNS_MIN - 1, 90000);
    assert_false(warning_of_pace(&took, 60000, &warning));
}
