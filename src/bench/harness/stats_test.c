#include "bench/harness/stats.h"

#include "base/test/test.h"

TEST(what_a_server_says_is_read)
{
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

TEST(numbers_that_are_missing_are_not_taken_for_zero)
{
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

TEST(shares_are_even_when_all_servers_have_theirs)
{
#define SHARE(n) "{\"partitions\":" n "}"
#define OF_FIVE "],\"partitions\":[1,2,3,4,5]}"
    const struct str even = STR("{\"nodes\":[" SHARE("3") "," SHARE("2") OF_FIVE);
    const struct str late = STR("{\"nodes\":[" SHARE("5") "," SHARE("0") OF_FIVE);
    const struct str under_way = STR("{\"nodes\":[" SHARE("2") "," SHARE("2") OF_FIVE);
    assert_true(stats_are_even(even, 2));
    assert_false(stats_are_even(even, 3));
    assert_false(stats_are_even(late, 2));
    assert_false(stats_are_even(under_way, 2));
    assert_false(stats_are_even(STR("{}"), 1));
}
