#include "server/cluster/timing.h"

#include "base/test/test.h"

#include <stdlib.h>

#define OFFSET_US (INT64_C(1800000000) * SECOND_US) /* of the database's clock to our boot clock */
#define SECOND_US INT64_C(1000000)

/* ---- answers */

/* One that took this long, and was given after a part of that. */
static struct time_answer ask(int64_t at_us, int64_t took_us, int64_t given_us, int64_t offset_us)
{
    return (struct time_answer){(at_us + given_us + offset_us) / 1000, at_us, at_us + took_us};
}

static int64_t error_of(int64_t offset_us)
{
    return llabs(offset_us - OFFSET_US);
}

static int64_t add(struct timing *t, struct time_answer answer)
{
    struct time_sample sample;
    assert_true(timing_usable(t, &answer, &sample));
    return timing_add(t, &sample);
}

TEST(a_quick_answer_counts_more_than_slow_ones)
{
    struct timing t = {0};
    assert_true(error_of(add(&t, ask(0, 400, 200, OFFSET_US))) <= 1000);
    for (int i = 1; i < 10; i++) /* slow, and given at the very end */
        assert_true(error_of(add(&t, ask(i * SECOND_US, 80000, 79000, OFFSET_US))) <= 1000);
}

TEST(an_old_answer_makes_way_for_newer_ones)
{
    struct timing t = {0};
    int64_t offset_us = add(&t, ask(0, 400, 200, OFFSET_US));
    for (int i = 1; i <= 600; i++) /* our clock is slow: the database gains 50 us a second */
        offset_us = add(&t, ask(i * SECOND_US, 2000, 1000, OFFSET_US + i / 20 * 1000));
    assert_true(offset_us - OFFSET_US > 28000);
}

TEST(a_clock_that_was_set_by_a_little_is_followed)
{
    struct timing t = {0};
    for (int i = 0; i < 5; i++)
        add(&t, ask(i * SECOND_US, 400, 200, OFFSET_US));
    int64_t offset_us = add(&t, ask(5 * SECOND_US, 2000, 1000, OFFSET_US - SECOND_US));
    assert_true(error_of(offset_us + SECOND_US) <= 2000);
}

TEST(an_answer_that_took_half_a_second_says_nothing)
{
    struct timing t = {.usable_us = 1};
    struct time_sample sample;
    struct time_answer slow = ask(SECOND_US, 500001, 0, OFFSET_US);
    assert_false(timing_usable(&t, &slow, &sample));
    struct time_answer quick = ask(2 * SECOND_US, 500000, 0, OFFSET_US);
    assert_true(timing_usable(&t, &quick, &sample));
}

TEST(after_a_minute_of_slow_answers_the_quickest_counts)
{
    struct timing t = {.usable_us = 1};
    struct time_sample sample;
    struct time_answer best = ask(10 * SECOND_US, 600000, 300000, OFFSET_US);
    assert_false(timing_usable(&t, &best, &sample));
    for (int i = 11; i < 60; i++) {
        struct time_answer worse = ask(i * SECOND_US, 900000, 0, OFFSET_US);
        assert_false(timing_usable(&t, &worse, &sample));
    }
    struct time_answer last = ask(60 * SECOND_US, 900000, 0, OFFSET_US);
    assert_true(timing_usable(&t, &last, &sample));
    assert_true(error_of(sample.offset_us) <= 1000);
    last = ask(61 * SECOND_US, 900000, 0, OFFSET_US); /* and the next minute begins */
    assert_false(timing_usable(&t, &last, &sample));
}
