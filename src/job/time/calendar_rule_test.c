#include "base/date.h"

#include "base/test/test.h"
#include "job/time/calendar_rule.h"

enum { DAY_S = 86400, DAYS = 2500 };

static struct rng rng;

/* ---- what RFC 5545 says, day by day: does an occurrence begin on this one? */

static bool has_bit(uint32_t bits, unsigned bit)
{
    return (bits >> bit & 1) != 0;
}

/* Whether it is the nth of its weekday in the days from first to last. */
static bool is_nth(const struct calendar_nth *nth, int64_t day, int64_t first, int64_t last)
{
    int64_t before = (day - first) / 7;
    int64_t after = (last - day) / 7;
    return date_weekday(day) == nth->weekday &&
           (nth->nth > 0 ? before + 1 == nth->nth : -after - 1 == nth->nth);
}

static bool is_chosen_weekday(const struct calendar_rule *rule, int64_t day)
{
    struct date date = date_from_days(day);
    bool of_year = rule->freq == CALENDAR_YEARLY && rule->months == 0;
    int64_t first = of_year ? date_to_days(date.year, 1, 1) : day - date.day + 1;
    int64_t last = of_year ? date_to_days(date.year, 12, 31)
                           : first + date_month_days(date.year, date.month) - 1;
    bool found = has_bit(rule->weekdays, date_weekday(day));
    for (unsigned i = 0; i < rule->nth_count; i++)
        found |= is_nth(&rule->nths[i], day, first, last);
    return found;
}

/* By the lists alone. */
static bool is_listed(const struct calendar_rule *rule, int64_t day)
{
    struct date start = date_from_days(rule->start_s / DAY_S);
    struct date date = date_from_days(day);
    bool by_day = rule->weekdays != 0 || rule->nth_count > 0;
    bool by_date = rule->month_days != 0 || rule->last_days != 0;
    unsigned back = date_month_days(date.year, date.month) - date.day + 1;
    if (rule->months != 0 && !has_bit(rule->months, date.month))
        return false;
    if (by_date && !has_bit(rule->month_days, date.day) && !has_bit(rule->last_days, back))
        return false;
    if (by_day && !is_chosen_weekday(rule, day))
        return false;
    if (by_day || by_date || rule->freq == CALENDAR_DAILY)
        return true;
    if (rule->freq == CALENDAR_WEEKLY)
        return date_weekday(day) == date_weekday(rule->start_s / DAY_S);
    return date.day == start.day &&
           (rule->freq == CALENDAR_MONTHLY || rule->months != 0 || date.month == start.month);
}

/* Whether it is at one of the positions among the days of its month or year that are listed. */
static bool is_at_position(const struct calendar_rule *rule, int64_t day)
{
    struct date date = date_from_days(day);
    bool of_year = rule->freq == CALENDAR_YEARLY;
    int64_t first = of_year ? date_to_days(date.year, 1, 1) : day - date.day + 1;
    int64_t last = of_year ? date_to_days(date.year, 12, 31)
                           : first + date_month_days(date.year, date.month) - 1;
    int before = 0;
    int total = 0;
    bool found = rule->position_count == 0;
    for (int64_t d = first; d <= last && !found; d++) {
        before += d < day && is_listed(rule, d);
        total += is_listed(rule, d);
    }
    for (unsigned i = 0; i < rule->position_count; i++)
        found |= rule->positions[i] == before + 1 || rule->positions[i] == before - total;
    return found;
}

static bool begins_on(const struct calendar_rule *rule, int64_t day)
{
    int64_t first = rule->start_s / DAY_S;
    struct date start = date_from_days(first);
    struct date date = date_from_days(day);
    int64_t periods = date.year - start.year;
    if (day < first || !is_listed(rule, day))
        return false;
    if (rule->freq == CALENDAR_DAILY)
        periods = day - first;
    if (rule->freq == CALENDAR_MONTHLY)
        periods = periods * 12 + date.month - start.month;
    if (rule->freq == CALENDAR_WEEKLY) { /* how many began since the first one's */
        periods = 0;
        for (int64_t d = first + 1; d <= day; d++)
            periods += date_weekday(d) == rule->week_from;
    }
    return periods % rule->interval == 0 && is_at_position(rule, day);
}

static bool maybe(unsigned chances)
{
    return rng_below(&rng, chances) == 0;
}

static void any_lists(struct calendar_rule *rule)
{
    bool long_ones = rule->freq >= CALENDAR_MONTHLY;
    if (maybe(3))
        rule->months = 2U << rng_below(&rng, 12) | 2U << rng_below(&rng, 12);
    if (maybe(2))
        rule->weekdays = 1 + (unsigned)rng_below(&rng, 127);
    if (rule->freq != CALENDAR_WEEKLY && maybe(3))
        rule->month_days = UINT32_C(2) << rng_below(&rng, 31) | UINT32_C(2) << rng_below(&rng, 31);
    if (rule->freq != CALENDAR_WEEKLY && maybe(4))
        rule->last_days = UINT32_C(2) << rng_below(&rng, 31);
    while (long_ones && maybe(2) && rule->nth_count < 3) {
        int nth = 1 + (int)rng_below(&rng, maybe(4) ? 53 : 5);
        rule->nths[rule->nth_count++] =
            (struct calendar_nth){(int8_t)(maybe(2) ? nth : -nth), (uint8_t)rng_below(&rng, 7)};
    }
    while (long_ones && maybe(3) && rule->position_count < 3) {
        int position = 1 + (int)rng_below(&rng, maybe(4) ? 100 : 4);
        rule->positions[rule->position_count++] = (int16_t)(maybe(2) ? position : -position);
    }
}

static struct calendar_rule any_rule(void)
{
    struct calendar_rule rule = {
        .freq = (enum calendar_freq)rng_below(&rng, 4),
        .interval = 1 + (unsigned)(rng_below(&rng, 2) * rng_below(&rng, 4)),
        .week_from = (unsigned)rng_below(&rng, 7),
        .start_s = (int64_t)rng_below(&rng, 800 * (uint64_t)DAY_S),
        .last_s = ZONE_EVER_S,
        .length_s = 1 + (int64_t)rng_below(&rng, maybe(2) ? 20 * DAY_S : DAY_S / 2),
    };
    any_lists(&rule);
    if (maybe(8))
        rule.length_s = 1 + (int64_t)rng_below(&rng, CALENDAR_RULE_S_MAX);
    if (maybe(8)) /* the 29th of February 1972, the day that is mostly not there */
        rule.start_s = 789 * (int64_t)DAY_S + 3600;
    if (maybe(2))
        rule.last_s = rule.start_s + (int64_t)rng_below(&rng, 1500 * (uint64_t)DAY_S);
    return rule;
}

/* Some of the days from its start on. */
static void any_exceptions(struct calendar_rule *rule, int64_t *days)
{
    rule->except = days;
    for (int64_t day = rule->start_s / DAY_S; day < DAYS; day++) {
        if (maybe(5))
            days[rule->except_count++] = day;
    }
}

static bool is_excepted(const struct calendar_rule *rule, int64_t day)
{
    for (size_t i = 0; i < rule->except_count; i++) {
        if (rule->except[i] == day)
            return true;
    }
    return false;
}

TEST(a_rule_agrees_with_a_walk_from_day_to_day)
{
    static int64_t except[DAYS];
    for (int round = 0; round < 400; round++) {
        struct calendar_rule rule = any_rule();
        int64_t time_s = rule.start_s % DAY_S;
        int64_t latest_end_s = -1;
        int64_t latest_begin_s = rule.start_s - 1;
        uint32_t count = 0;
        if (maybe(3))
            any_exceptions(&rule, except);
        for (int64_t day = rule.start_s / DAY_S; day < DAYS; day++) {
            int64_t begin_s = day * DAY_S + time_s;
            int64_t end_s = -1;
            bool begins = begins_on(&rule, day);
            assert_int_equal(calendar_rule_begins(&rule, begin_s), begins);
            if (begins) {
                assert_int_equal(calendar_rule_begin(&rule, ++count), begin_s);
                assert_int_equal(calendar_rule_after(&rule, latest_begin_s), begin_s);
                latest_begin_s = begin_s;
            }
            if (begins && begin_s <= rule.last_s && !is_excepted(&rule, day))
                latest_end_s = begin_s + rule.length_s;
            assert_int_equal(calendar_rule_covers(&rule, begin_s, &end_s), latest_end_s > begin_s);
            if (latest_end_s > begin_s)
                assert_int_equal(end_s, latest_end_s);
            int64_t eve_s = begin_s + DAY_S - 1; /* of the next possible beginning */
            assert_int_equal(calendar_rule_covers(&rule, eve_s, &end_s), latest_end_s > eve_s);
        }
    }
}

TEST(days_before_1970_are_days)
{
    struct calendar_rule rule = {.interval = 1,
                                 .start_s = -3 * DAY_S,
                                 .last_s = ZONE_EVER_S,
                                 .length_s = DAY_S,
                                 .weekdays = 1 << 3}; /* the 31st of December 1969 */
    int64_t end_s;
    assert_true(calendar_rule_covers(&rule, -1, &end_s));
    assert_int_equal(end_s, 0);
    assert_int_equal(calendar_rule_begin(&rule, 1), -DAY_S);
}

TEST(a_rule_that_never_comes_ends_the_search)
{
    struct calendar_rule rule = {.freq = CALENDAR_YEARLY,
                                 .interval = 1,
                                 .months = 1 << 2,
                                 .month_days = UINT32_C(1) << 30,
                                 .last_s = ZONE_EVER_S,
                                 .length_s = CALENDAR_RULE_S_MAX};
    int64_t end_s;
    assert_false(calendar_rule_covers(&rule, 1000000000, &end_s));
    assert_int_equal(calendar_rule_begin(&rule, 1), ZONE_EVER_S);
    assert_int_equal(calendar_rule_after(&rule, 1000000000), ZONE_EVER_S);
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
