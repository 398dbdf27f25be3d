#include "base/log.h"

#include "base/test/test.h"
#include "server/turn/outage.h"

#define SECOND_US INT64_C(1000000)

static struct err full(void)
{
    struct err err;
    err_set(&err, RC_FULL, "no room");
    return err;
}

TEST(without_an_outage_every_turn_may_try)
{
    struct outage o = {0};
    assert_true(outage_may_try(&o, 0));
    assert_false(outage_has_grace(&o, 60000, 0));
    outage_end(&o, 0);
}

TEST(tries_are_spread_and_grace_ends)
{
    struct outage o = {0};
    struct err why = full();
    outage_note(&o, &why, SECOND_US);
    assert_true(o.on);
    assert_false(outage_may_try(&o, SECOND_US + OUTAGE_TRY_US - 1));
    assert_true(outage_may_try(&o, SECOND_US + OUTAGE_TRY_US));
    outage_note(&o, &why, 30 * SECOND_US); /* the grace counts from the first */
    assert_true(outage_has_grace(&o, 60000, 61 * SECOND_US));
    assert_false(outage_has_grace(&o, 60000, 61 * SECOND_US + 1));
    outage_end(&o, 62 * SECOND_US);
    assert_true(outage_may_try(&o, 62 * SECOND_US));
}

TEST(a_store_that_comes_and_goes_is_told_of_once_a_minute)
{
    struct outage o = {0};
    struct err why = full();
    int said = 0;
    for (int64_t s = 0; s < 180; s++) {
        outage_note(&o, &why, s * SECOND_US);
        said += o.said;
        outage_end(&o, s * SECOND_US + SECOND_US / 2);
    }
    assert_int_equal(said, 3);
}

static int begin(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    return 0;
}

TEST_GROUP(begin, NULL)
