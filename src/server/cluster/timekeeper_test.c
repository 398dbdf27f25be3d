#include "server/cluster/timekeeper.h"

#include "base/test/test.h"

#include <stdlib.h>

#define SECOND_US INT64_C(1000000)
#define HOUR_US (3600 * SECOND_US)

/* ---- servers of a cluster; the process has one clock, so one after the other */

static const struct time_rules rules = {.step_ms = 60000};

/* What the database says, being ahead of our own clock by this. */
static struct time_answer heard(int64_t ahead_us)
{
    int64_t boot_us;
    int64_t offset_us = clock_own_offset_us(&boot_us) + ahead_us;
    return (struct time_answer){(boot_us + offset_us) / 1000, boot_us, boot_us};
}

static int64_t ahead_s(void)
{
    int64_t ahead_ms = clock_wall_ms() - clock_own_wall_ms();
    return (ahead_ms + (ahead_ms < 0 ? -1 : 1) * 500) / 1000;
}

TEST(a_joiner_goes_by_the_time_of_those_who_are_there)
{
    struct timekeeper t;
    struct time_answer answer = heard(HOUR_US);
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer,
                     &(struct time_company){.has_others = true, .median_us = -HOUR_US});
    assert_int_equal(ahead_s(), 0);
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer,
                     &(struct time_company){.has_others = true, .median_us = 1000});
    assert_int_equal(ahead_s(), 3600);
}

TEST(whoever_is_first_goes_by_the_newest_id)
{
    struct timekeeper t;
    struct time_answer answer = heard(-HOUR_US);
    timekeeper_enter(&t, &rules, clock_own_wall_ms(), &answer, &(struct time_company){0});
    assert_false(clock_is_sure());
    /* And when another one leads, and knows the time, takes it from that one. */
    assert_true(timekeeper_sample(&t, &answer,
                                  &(struct time_company){.has_leader = true, .ahead_us = HOUR_US}));
    assert_true(clock_is_sure());
    assert_int_equal(ahead_s(), 0);
}

TEST(only_the_leader_accepts_a_step)
{
    struct timekeeper t;
    struct time_rules at_once = {.step_ms = 0};
    struct time_answer before = heard(0);
    struct time_answer answer = heard(HOUR_US);
    timekeeper_enter(&t, &at_once, TIMELINE_NO_ID, &before, &(struct time_company){0});
    for (int i = 0; i < 10; i++) /* nobody leads, or the leader goes by the old time */
        assert_false(timekeeper_sample(
            &t, &answer, &(struct time_company){.has_leader = i % 2 == 0, .ahead_us = -HOUR_US}));
    assert_int_equal(ahead_s(), 0);
    assert_true(timekeeper_sample(&t, &answer, &(struct time_company){.leads = true}));
    assert_int_equal(ahead_s(), 3600);
}

TEST(the_others_follow_when_the_leader_has_accepted_it)
{
    struct timekeeper t;
    struct time_rules at_once = {.step_ms = 0};
    struct time_answer before = heard(0);
    struct time_answer answer = heard(HOUR_US);
    timekeeper_enter(&t, &at_once, TIMELINE_NO_ID, &before, &(struct time_company){0});
    assert_true(timekeeper_sample(&t, &answer,
                                  &(struct time_company){.has_leader = true, .ahead_us = 3000}));
    assert_int_equal(ahead_s(), 3600);
}

TEST(one_row_of_the_leader_says_nothing_but_three_do)
{
    struct timekeeper t;
    struct time_answer answer = heard(0);
    const struct time_company other = {.has_leader = true, .ahead_us = HOUR_US};
    const struct time_company same = {.has_leader = true};
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer, &(struct time_company){0});
    for (int i = 0; i < 9; i++) /* the database's clock goes to and fro */
        assert_false(timekeeper_sample(&t, &answer, i % 3 == 2 ? &same : &other));
    assert_false(timekeeper_sample(&t, &answer, &other));
    assert_false(timekeeper_sample(&t, &answer, &other));
    assert_true(timekeeper_sample(&t, &answer, &other));
    assert_int_equal(ahead_s(), 3600);
}

TEST(after_a_gap_the_time_of_the_others_counts)
{
    struct timekeeper t;
    struct time_answer answer = heard(0);
    struct time_answer later = heard(HOUR_US);
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer, &(struct time_company){0});
    assert_false(timekeeper_back(&t, &later, &(struct time_company){0}));
    assert_int_equal(ahead_s(), 0);
    assert_true(timekeeper_back(&t, &later, &(struct time_company){.has_others = true}));
    assert_int_equal(ahead_s(), 3600);
}
