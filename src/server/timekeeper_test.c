#include "server/timekeeper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define OFFSET_MS INT64_C(1800000000000) /* of the database's clock to our boot clock */
#define SECOND_US INT64_C(1000000)

/* An answer that took this long, and was given after a part of that. */
static int64_t ask(struct timekeeper *t, int64_t at_us, int64_t took_us, int64_t given_us,
                   int64_t offset_ms, int64_t *ret_jump_us)
{
    int64_t database_ms = (at_us + given_us) / 1000 + offset_ms;
    return timekeeper_add(t, database_ms, at_us, at_us + took_us, ret_jump_us);
}

static int64_t error_of(int64_t offset_us)
{
    int64_t error_us = offset_us - OFFSET_MS * 1000;
    return error_us < 0 ? -error_us : error_us;
}

static void a_quick_answer_counts_more_than_slow_ones(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    int64_t jump_us;
    assert_true(error_of(ask(&t, 0, 400, 200, OFFSET_MS, &jump_us)) <= 1000);
    for (int i = 1; i < 10; i++) {
        /* slow, and given at the very end */
        int64_t offset_us = ask(&t, i * SECOND_US, 80000, 79000, OFFSET_MS, &jump_us);
        assert_true(error_of(offset_us) <= 1000);
        assert_int_equal(jump_us, 0);
    }
}

static void an_old_answer_makes_way_for_newer_ones(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    int64_t jump_us;
    ask(&t, 0, 400, 200, OFFSET_MS, &jump_us);
    int64_t offset_us = 0;
    for (int i = 1; i <= 600; i++) /* our clock is slow: the database gains 50 us a second */
        offset_us = ask(&t, i * SECOND_US, 2000, 1000, OFFSET_MS + i / 20, &jump_us);
    assert_true(offset_us - OFFSET_MS * 1000 > 28000);
}

static void a_clock_that_was_set_is_followed_and_told(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    int64_t jump_us;
    for (int i = 0; i < 5; i++)
        ask(&t, i * SECOND_US, 400, 200, OFFSET_MS, &jump_us);
    int64_t offset_us = ask(&t, 5 * SECOND_US, 2000, 1000, OFFSET_MS - 3600000, &jump_us);
    assert_in_range(-jump_us, 3599000 * INT64_C(1000), 3601000 * INT64_C(1000));
    assert_int_equal(t.jumps.count, 1);
    assert_in_range(-t.jumps.by_ms, 3599000, 3601000);
    assert_true(error_of(offset_us + 3600000 * INT64_C(1000)) <= 2000);
    ask(&t, 6 * SECOND_US, 2000, 1000, OFFSET_MS - 3600000, &jump_us);
    assert_int_equal(jump_us, 0);
}

static void a_very_slow_answer_is_no_sign_of_anything(void **state)
{
    (void)state;
    struct timekeeper t = {0};
    int64_t jump_us;
    ask(&t, 0, 400, 200, OFFSET_MS, &jump_us);
    int64_t offset_us = ask(&t, SECOND_US, 4 * SECOND_US, 0, OFFSET_MS, &jump_us);
    assert_int_equal(jump_us, 0);
    assert_true(error_of(offset_us) <= 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quick_answer_counts_more_than_slow_ones),
        cmocka_unit_test(an_old_answer_makes_way_for_newer_ones),
        cmocka_unit_test(a_clock_that_was_set_is_followed_and_told),
        cmocka_unit_test(a_very_slow_answer_is_no_sign_of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
