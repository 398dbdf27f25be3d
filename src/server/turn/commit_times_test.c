#include "base/test/test.h"
#include "server/turn/commit_times.h"

#include <string.h>

enum { SECOND_US = 1000000, HOUR_S = 3600 };

static struct commit_times times;

static int64_t at(int64_t seconds)
{
    return (HOUR_S + seconds) * (int64_t)SECOND_US;
}

static struct sketch look(int64_t seconds)
{
    struct sketch sketch;
    commit_times_look(&times, at(seconds), &sketch);
    return sketch;
}

TEST(without_a_commit_there_is_none)
{
    memset(&times, 0, sizeof times);
    assert_int_equal(look(0).total, 0);
}

TEST(the_last_minute_is_added_up)
{
    memset(&times, 0, sizeof times);
    for (int64_t s = 0; s < 50; s++)
        commit_times_add(&times, at(s), s < 49 ? 1000 : 80000);
    struct sketch sketch = look(50);
    assert_int_equal(sketch.total, 50);
    assert_in_range(sketch_quantile(&sketch, 500), 940, 1063);
    assert_in_range(sketch_quantile(&sketch, 990), 75000, 85000);
}

TEST(after_a_minute_a_commit_is_forgotten)
{
    memset(&times, 0, sizeof times);
    commit_times_add(&times, at(0), 1000);
    assert_int_equal(look(54).total, 1);
    assert_int_equal(look(60).total, 0);
    /* Its step serves again. */
    commit_times_add(&times, at(60), 7);
    struct sketch sketch = look(60);
    assert_int_equal(sketch.total, 1);
    assert_int_equal(sketch_quantile(&sketch, 500), 7);
}

TEST(a_clock_that_went_back_counts_as_nothing)
{
    memset(&times, 0, sizeof times);
    commit_times_add(&times, at(0), -5);
    struct sketch sketch = look(0);
    assert_int_equal(sketch_quantile(&sketch, 500), 0);
    assert_int_equal(sketch.total, 1);
}
