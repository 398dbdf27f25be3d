#include "bench/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void what_a_server_says_is_read(void **state)
{
    (void)state;
    struct stats stats;
    struct err err;
    assert_int_equal(stats_parse(STR("{\"workers\":{\"count\":2},\"executions\":{\"completed\":7},"
                                     "\"store\":{\"commits\":31,\"syncs\":33,\"sync_ms\":19}}"),
                                 &stats, &err),
                     RC_OK);
    assert_int_equal(stats.workers, 2);
    assert_int_equal(stats.completed, 7);
    assert_int_equal(stats.cost.commits, 31);
    assert_int_equal(stats.cost.syncs, 33);
    assert_int_equal(stats.cost.sync_us, 19000);
}

static void numbers_that_are_missing_are_not_taken_for_zero(void **state)
{
    (void)state;
#define HEAD "{\"workers\":{\"count\":2},\"executions\":{\"completed\":7},\"store\":"
    static const char *const bodies[] = {
        "",
        "[]",
        "{}",
        HEAD "{\"commits\":31}}",
        HEAD "{\"commits\":31,\"syncs\":-1,\"sync_ms\":19}}",
        HEAD "{\"commits\":31,\"syncs\":33,\"sync_ms\":1.5}}",
    };
    struct stats stats;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        assert_int_not_equal(stats_parse(str_c(bodies[i]), &stats, &err), RC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_server_says_is_read),
        cmocka_unit_test(numbers_that_are_missing_are_not_taken_for_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
