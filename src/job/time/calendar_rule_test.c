#include "base/date.h"

#include "base/test/test.h"
#include "job/time/calendar_rule.h"

enum { DAY_S = 86400, DAYS = 2500 };

static struct rng rng;

/* ---- what RFC 5545 says, day by day: does an occurrence begin on this one? */

static bool is_nth_weekday(const struct calendar_rule *rule, int64_t day)
{
    struct date date = date_from_days(day);
    unsigned before = (date.day - 1) / 7;
    unsigned after = (date_month_days(date.year, date.month) - date.day) / 7;
    return date.month == rule->month && date_weekday(day) == rule->weekday &&
           (rule->nth > 0 ? (int)before + 1 == rule->nth : -(int)after - 1 == rule->nth);
}

static bool begins_on(const struct calendar_rule *rule, int64_t day)
{
    int64_t first = rule->start_s / DAY_S;
    struct date start = date_from_days(first);
    struct date date = date_from_days(day);
    int64_t weeks = 0; /* how many began since the first one's */
    if (day < first)
        return false;
    switch (rule->freq) {
    case CALENDAR_DAILY: return (day - first) % rule->interval == 0;
    case CALENDAR_WEEKLY:
        for (int64_t d = first + 1; d <= day; d++)
            weeks += date_weekday(d) == rule->week_from;
        return weeks % rule->interval == 0 && (rule->weekdays >> date_weekday(day) & 1) != 0;
    default:
        if ((date.year - start.year) % rule->interval != 0)
            return false;
        return rule->nth != 0 ? is_nth_weekday(rule, day)
                              : date.month == start.month && date.day == start.day;
    }
}

static struct calendar_rule any_rule(void)
{
    struct calendar_rule rule = {
        .freq = (enum calendar_freq)rng_below(&rng, 3),
        .interval = 1 + (unsigned)(rng_below(&rng, 2) * rng_below(&rng, 4)),
        .weekdays = 1 + (unsigned)rng_below(&rng, 127),
        .week_from = (unsigned)rng_below(&rng, 7),
        .month = 1 + (unsigned)rng_below(&rng, 12),
        .nth = (int)rng_below(&rng, 11) - 5,
        .weekday = (unsigned)rng_below(&rng, 7),
        .start_s = (int64_t)rng_below(&rng, 800 * (uint64_t)DAY_S),
        .last_s = ZONE_EVER_S,
        .length_s = 1 + (int64_t)rng_below(&rng, rng_below(&rng, 2) ? 20 * DAY_S : DAY_S / 2),
    };
    if (rng_below(&rng, 8) == 0) /* the 29th of February 1972, the day that is mostly not there */
        rule.start_s = 789 * (int64_t)DAY_S + 3600;
    if (rng_below(&rng, 2) == 0)
        rule.last_s = rule.start_s + (int64_t)rng_below(&rng, 1500 * (uint64_t)DAY_S);
    return rule;
}

TEST(a_rule_agrees_with_a_walk_from_day_to_day)
{
    for (int round = 0; round < 300; round++) {
        struct calendar_rule rule = any_rule();
        int64_t time_s = rule.start_s % DAY_S;
        int64_t latest_end_s = -1;
        uint32_t count = 0;
        for (int64_t day = rule.start_s / DAY_S; day < DAYS; day++) {
            int64_t begin_s = day * DAY_S + time_s;
            int64_t end_s = -1;
            bool begins = begins_on(&rule, day);
            if (begins)
                assert_int_equal(calendar_rule_begin(&rule, ++count), begin_s);
            if (begins && begin_s <= rule.last_s)
                latest_end_s = begin_s + rule.length_s;
            assert_int_equal(calendar_rule_covers(&rule, begin_s, &end_s), latest_end_s > begin_s);
            if (latest_end_s > begin_s)
                assert_int_equal(end_s, latest_end_s);
            int64_t eve_s = begin_s + DAY_S - 1; /* of the next possible beginning */
            assert_int_equal(calendar_rule_covers(&rule, eve_s, &end_s), latest_end_s > eve_s);
        }
    }
}

TEST(nothing_is_covered_before_the_first)
{
    struct calendar_rule rule = {
        .interval = 1, .start_s = 100 * DAY_S, .last_s = ZONE_EVER_S, .length_s = DAY_S};
    int64_t end_s;
    assert_false(calendar_rule_covers(&rule, rule.start_s - 1, &end_s));
    assert_false(calendar_rule_covers(&rule, -rule.start_s, &end_s));
    assert_true(calendar_rule_covers(&rule, rule.start_s, &end_s));
}

TEST(the_year_8000_is_as_near_as_the_next)
{
    struct calendar_rule rule = {.freq = CALENDAR_YEARLY,
                                 .interval = 1,
                                 .start_s = date_to_days(2026, 12, 25) * DAY_S,
                                 .last_s = ZONE_EVER_S,
                                 .length_s = DAY_S};
    int64_t end_s;
    assert_true(calendar_rule_covers(&rule, date_to_days(8000, 12, 25) * DAY_S, &end_s));
    assert_int_equal(end_s, date_to_days(8000, 12, 26) * DAY_S);
    assert_false(calendar_rule_covers(&rule, end_s, &end_s));
    assert_int_equal(calendar_rule_begin(&rule, 7975), ZONE_EVER_S);
    assert_int_equal(calendar_rule_begin(&rule, 7974), date_to_days(9999, 12, 25) * DAY_S);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)
