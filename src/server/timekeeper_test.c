#include "server/timekeeper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define OFFSET_US (INT64_C(1800000000) * SECOND_US) /* of the database's clock to our boot clock */
#define SECOND_US INT64_C(1000000)
#define HOUR_US (3600 * SECOND_US)

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

static int64_t add(struct timekeeper *t, struct time_answer answer)
{
    struct time_sample sample;
    assert_true(timekeeper_usable(t, &answer, &sample));
    return timekeeper_add(t, &sample);
}

static void a_quick_answer_counts_more_than_slow_ones(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    assert_true(error_of(add(&t, ask(0, 400, 200, OFFSET_US))) <= 1000);
    for (int i = 1; i < 10; i++) /* slow, and given at the very end */
        assert_true(error_of(add(&t, ask(i * SECOND_US, 80000, 79000, OFFSET_US))) <= 1000);
}

static void an_old_answer_makes_way_for_newer_ones(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    int64_t offset_us = add(&t, ask(0, 400, 200, OFFSET_US));
    for (int i = 1; i <= 600; i++) /* our clock is slow: the database gains 50 us a second */
        offset_us = add(&t, ask(i * SECOND_US, 2000, 1000, OFFSET_US + i / 20 * 1000));
    assert_true(offset_us - OFFSET_US > 28000);
}

static void a_clock_that_was_set_by_a_little_is_followed(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    for (int i = 0; i < 5; i++)
        add(&t, ask(i * SECOND_US, 400, 200, OFFSET_US));
    int64_t offset_us = add(&t, ask(5 * SECOND_US, 2000, 1000, OFFSET_US - SECOND_US));
    assert_true(error_of(offset_us + SECOND_US) <= 2000);
}

static void an_answer_that_took_half_a_second_says_nothing(void **state)
{
    (void)state;
    struct timekeeper t = {.usable_us = 1};
    struct time_sample sample;
    struct time_answer slow = ask(SECOND_US, 500001, 0, OFFSET_US);
    assert_false(timekeeper_usable(&t, &slow, &sample));
    struct time_answer quick = ask(2 * SECOND_US, 500000, 0, OFFSET_US);
    assert_true(timekeeper_usable(&t, &quick, &sample));
}

static void after_a_minute_of_slow_answers_the_quickest_counts(void **state)
{
    (void)state;
    struct timekeeper t = {.usable_us = 1};
    struct time_sample sample;
    struct time_answer best = ask(10 * SECOND_US, 600000, 300000, OFFSET_US);
    assert_false(timekeeper_usable(&t, &best, &sample));
    for (int i = 11; i < 60; i++) {
        struct time_answer worse = ask(i * SECOND_US, 900000, 0, OFFSET_US);
        assert_false(timekeeper_usable(&t, &worse, &sample));
    }
    struct time_answer last = ask(60 * SECOND_US, 900000, 0, OFFSET_US);
    assert_true(timekeeper_usable(&t, &last, &sample));
    assert_true(error_of(sample.offset_us) <= 1000);
    last = ask(61 * SECOND_US, 900000, 0, OFFSET_US); /* and the next minute begins */
    assert_false(timekeeper_usable(&t, &last, &sample));
}

/* ---- servers of a cluster; the process has one clock, so one after the other */

static const struct timekeeper_rules rules = {.step_ms = 60000};

/* What the database says, being ahead of our own clock by this. */
static struct time_answer heard(int64_t ahead_us)
{
    int64_t boot_us;
    int64_t offset_us = clock_own_offset_us(&boot_us) + ahead_us;
    return (struct time_answer){(boot_us + offset_us) / 1000, boot_us, boot_us};
}

static int64_t ahead_s(void)
{
    int64_t boot_us;
    int64_t ahead_us = clock_offset_us() - clock_own_offset_us(&boot_us);
    return (ahead_us + (ahead_us < 0 ? -1 : 1) * SECOND_US / 2) / SECOND_US;
}

static void a_joiner_goes_by_the_time_of_those_who_are_there(void **state)
{
    (void)state;
    struct timekeeper t;
    struct time_answer answer = heard(HOUR_US);
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer,
                     &(struct time_company){.has_others = true, .median_us = -HOUR_US});
    assert_int_equal(ahead_s(), 0);
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer,
                     &(struct time_company){.has_others = true, .median_us = 1000});
    assert_int_equal(ahead_s(), 3600);
}

static void whoever_is_first_goes_by_the_newest_id(void **state)
{
    (void)state;
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

static void only_the_leader_accepts_a_step(void **state)
{
    (void)state;
    struct timekeeper t;
    struct timekeeper_rules at_once = {.step_ms = 0};
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

static void the_others_follow_when_the_leader_has_accepted_it(void **state)
{
    (void)state;
    struct timekeeper t;
    struct timekeeper_rules at_once = {.step_ms = 0};
    struct time_answer before = heard(0);
    struct time_answer answer = heard(HOUR_US);
    timekeeper_enter(&t, &at_once, TIMELINE_NO_ID, &before, &(struct time_company){0});
    assert_true(timekeeper_sample(&t, &answer,
                                  &(struct time_company){.has_leader = true, .ahead_us = 3000}));
    assert_int_equal(ahead_s(), 3600);
}

static void one_row_of_the_leader_says_nothing_but_three_do(void **state)
{
    (void)state;
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

static void after_a_gap_the_time_of_the_others_counts(void **state)
{
    (void)state;
    struct timekeeper t;
    struct time_answer answer = heard(0);
    struct time_answer later = heard(HOUR_US);
    timekeeper_enter(&t, &rules, TIMELINE_NO_ID, &answer, &(struct time_company){0});
    assert_false(timekeeper_back(&t, &later, &(struct time_company){0}));
    assert_int_equal(ahead_s(), 0);
    assert_true(timekeeper_back(&t, &later, &(struct time_company){.has_others = true}));
    assert_int_equal(ahead_s(), 3600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quick_answer_counts_more_than_slow_ones),
        cmocka_unit_test(an_old_answer_makes_way_for_newer_ones),
        cmocka_unit_test(a_clock_that_was_set_by_a_little_is_followed),
        cmocka_unit_test(an_answer_that_took_half_a_second_says_nothing),
        cmocka_unit_test(after_a_minute_of_slow_answers_the_quickest_counts),
        cmocka_unit_test(a_joiner_goes_by_the_time_of_those_who_are_there),
        cmocka_unit_test(whoever_is_first_goes_by_the_newest_id),
        cmocka_unit_test(only_the_leader_accepts_a_step),
        cmocka_unit_test(the_others_follow_when_the_leader_has_accepted_it),
        cmocka_unit_test(one_row_of_the_leader_says_nothing_but_three_do),
        cmocka_unit_test(after_a_gap_the_time_of_the_others_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
