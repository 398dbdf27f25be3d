/* Our zones against those of the C library, which reads the same files by code of its own. */
#include "system_zones.h"

#include "base/test/test.h"

#include <stdlib.h>
#include <time.h>

static struct rng rng;
static struct system_zones all;

static long libc_offset_s(int64_t at_s)
{
    time_t at = (time_t)at_s;
    struct tm tm;
    assert_non_null(localtime_r(&at, &tm));
    return tm.tm_gmtoff;
}

static void compare_at(const struct system_zone *one, int64_t at_s)
{
    struct zone_span span = zone_span(one->zone, at_s);
    assert_true(span.begin_s <= at_s && at_s < span.end_s);
    if (span.offset_s != libc_offset_s(at_s))
        fail_msg("%s at %lld: %d, and libc says %ld", one->name, (long long)at_s, span.offset_s,
                 libc_offset_s(at_s));
}

/* The second before and the first of every stretch until 2600, when rules have long taken over, and
 * some in between. */
static void compare_zone(const struct system_zone *one)
{
    static const int64_t end_s = INT64_C(19880899200);
    assert_int_equal(setenv("TZ", one->name, 1), 0);
    tzset();
    struct zone_span span = zone_span(one->zone, -INT64_C(5000000000));
    while (span.end_s < end_s) {
        compare_at(one, span.end_s - 1);
        compare_at(one, span.end_s);
        span = zone_span(one->zone, span.end_s);
        if (span.end_s < end_s)
            compare_at(one, span.begin_s +
                                (int64_t)rng_below(&rng, (uint64_t)(span.end_s - span.begin_s)));
    }
    for (int i = 0; i < 20; i++)
        compare_at(one, (int64_t)rng_below(&rng, (uint64_t)end_s));
}

TEST(every_zone_has_the_offsets_that_libc_knows)
{
    for (size_t i = 0; i < all.all.len; i++)
        compare_zone(&all.all.items[i]);
}

/* Every moment is found again from what clocks show at it. */
TEST(every_zone_maps_local_times_back)
{
    for (size_t i = 0; i < all.all.len; i++) {
        const struct zone *zone = all.all.items[i].zone;
        for (int n = 0; n < 200; n++) {
            int64_t at_s = (int64_t)rng_below(&rng, UINT64_C(5000000000));
            if (n % 2 == 0) { /* near a change */
                struct zone_span span = zone_span(zone, at_s);
                at_s = (span.end_s < ZONE_MAX_S ? span.end_s : 0) - 7200 +
                       (int64_t)rng_below(&rng, 14400);
            }
            int64_t local_s = at_s + zone_span(zone, at_s).offset_s;
            struct zone_moments found = zone_from_local(zone, local_s);
            assert_int_not_equal(found.fit, ZONE_GAP);
            assert_true(found.first_s == at_s || found.last_s == at_s);
            assert_int_equal(found.fit == ZONE_FOLD, found.first_s != found.last_s);
        }
    }
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    system_zones_open(&all);
    return 0;
}

static int end(void **state)
{
    (void)state;
    system_zones_close(&all);
    return 0;
}

TEST_GROUP(begin, end)
