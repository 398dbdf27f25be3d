#include "base/test/test.h"
#include "server/metrics/readings.h"

static int64_t time_of(const struct thread_times *t, size_t i)
{
    return t->all[i].us + t->all[i].ended_us;
}

TEST(the_time_of_threads_that_ended_stays_counted)
{
    struct thread_times total = {.count = 0};
    struct thread_times now = {.all = {{"net", 500, 0}, {"connect", 70, 0}}, .count = 2};
    thread_times_add(&total, &now);
    now.all[0].us = 400; /* one of its threads has ended … */
    now.count = 1;
    thread_times_add(&total, &now);
    assert_int_equal(time_of(&total, 0), 500);
    assert_int_equal(time_of(&total, 1), 70);
    now = (struct thread_times){.all = {{"connect", 30, 0}, {"net", 450, 0}}, .count = 2};
    thread_times_add(&total, &now); /* … and another one has come */
    assert_int_equal(time_of(&total, 0), 550);
    assert_int_equal(time_of(&total, 1), 100);
}
