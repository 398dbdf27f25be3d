#include "job/time/cron.h"

#include "base/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cron parse_as(const char *text, bool seconds, const char *name)
{
    struct cron cron = {0};
    struct str zone;
    struct err err = {0};
    struct cron_options options = {.seconds = seconds, .name = str_c(name)};
    if (cron_parse(str_c(text), &options, &cron, &zone, &err))
        fail_msg("'%s': %s", text, err.text);
    return cron;
}

static struct cron parse(const char *text)
{
    return parse_as(text, false, "");
}

/* It is refused, and the reason has all these words. */
static void expect_refusal(const char *text, bool seconds, const char *first, const char *second)
{
    struct cron cron;
    struct str zone;
    struct err err = {0};
    struct cron_options options = {.seconds = seconds};
    if (cron_parse(str_c(text), &options, &cron, &zone, &err) != RC_INVALID)
        fail_msg("'%s' is not refused", text);
    if (strstr(err.text, first) == NULL || strstr(err.text, second) == NULL)
        fail_msg("'%s' is refused by '%s', which does not say '%s' and '%s'", text, err.text, first,
                 second);
}

#define BIT(n) (UINT64_C(1) << (n))

TEST(five_fields_are_minute_hour_day_month_weekday)
{
    struct cron cron = parse("1 2 3 4 5");
    assert_int_equal(cron.seconds, BIT(0));
    assert_int_equal(cron.minutes, BIT(1));
    assert_int_equal(cron.hours, BIT(2));
    assert_int_equal(cron.days, BIT(3));
    assert_int_equal(cron.months, BIT(4));
    assert_int_equal(cron.weekdays, BIT(5));
}

TEST(six_fields_begin_with_seconds_when_asked_for)
{
    struct cron cron = parse_as("30 1 2 3 4 5", true, "");
    assert_int_equal(cron.seconds, BIT(30));
    assert_int_equal(cron.minutes, BIT(1));
    expect_refusal("30 1 2 3 4 5", false, "six fields", "seconds were not asked for");
    expect_refusal("1 2 3 4 5", true, "five fields", "seconds were asked for");
}

TEST(blanks_may_be_many_and_tabs)
{
    struct cron cron = parse("  1\t2   3 4\t 5  ");
    assert_int_equal(cron.minutes, BIT(1));
    assert_int_equal(cron.weekdays, BIT(5));
}

TEST(lists_ranges_and_steps_add_up)
{
    assert_int_equal(parse("5,10-12,50-59/4 * * * *").minutes,
                     BIT(5) | BIT(10) | BIT(11) | BIT(12) | BIT(50) | BIT(54) | BIT(58));
    assert_int_equal(parse("*/20 * * * *").minutes, BIT(0) | BIT(20) | BIT(40));
    assert_int_equal(parse("*/7 * * * *").minutes, BIT(0) | BIT(7) | BIT(14) | BIT(21) | BIT(28) |
                                                       BIT(35) | BIT(42) | BIT(49) | BIT(56));
    assert_int_equal(parse("5/20 * * * *").minutes, BIT(5) | BIT(25) | BIT(45));
    assert_int_equal(parse("0 0 */10 * *").days, BIT(1) | BIT(11) | BIT(21) | BIT(31));
    assert_int_equal(parse("* * * * *").minutes, BIT(60) - 1);
}

TEST(names_may_be_in_any_case)
{
    struct cron cron = parse("0 0 * jan,Feb-APR mon-FRI");
    assert_int_equal(cron.months, BIT(1) | BIT(2) | BIT(3) | BIT(4));
    assert_int_equal(cron.weekdays, 0x3e);
}

TEST(sunday_is_0_and_7)
{
    assert_int_equal(parse("0 0 * * 0").weekdays, 1);
    assert_int_equal(parse("0 0 * * 7").weekdays, 1);
    assert_int_equal(parse("0 0 * * SUN").weekdays, 1);
    assert_int_equal(parse("0 0 * * 5-7").weekdays, BIT(5) | BIT(6) | BIT(0));
    assert_int_equal(parse("0 0 * * FRI-SUN").weekdays, BIT(5) | BIT(6) | BIT(0));
    assert_int_equal(parse("0 0 * * SUN-TUE").weekdays, BIT(0) | BIT(1) | BIT(2));
    assert_int_equal(parse("0 0 * * 1-7/2").weekdays, BIT(1) | BIT(3) | BIT(5) | BIT(0));
    expect_refusal("0 0 * * 5-0", false, "day of week", "backwards");
}

TEST(days_have_words_of_their_own)
{
    assert_true(parse("0 0 L * *").last_day);
    assert_true(parse("0 0 lw * *").last_working_day);
    assert_int_equal(parse("0 0 15W,1w * *").near_days, BIT(15) | BIT(1));
    assert_int_equal(parse("0 0 * * FRI#2").nth_weekdays[5], BIT(2));
    assert_int_equal(parse("0 0 * * 7#5").nth_weekdays[0], BIT(5));
    assert_int_equal(parse("0 0 * * FRIL,2L").last_weekdays, BIT(5) | BIT(2));
    assert_int_equal(parse("0 0 ? * MON").days, UINT32_C(0xfffffffe));
    assert_int_equal(parse("0 0 1 * ?").weekdays, 0x7f);
}

TEST(a_star_in_front_makes_both_day_fields_count)
{
    assert_false(parse("0 0 1-7 * MON").days_and);
    assert_true(parse("0 0 */2 * MON").days_and);
    assert_true(parse("0 0 *,5 * MON").days_and);
    assert_false(parse("0 0 5,* * MON").days_and);
    assert_true(parse("0 0 1 * */2").days_and);
    assert_true(parse("0 0 ? * MON").days_and);
    assert_false(parse("*/2 * 1 * MON").days_and);
}

TEST(a_star_in_front_of_minute_or_hour_follows_real_time)
{
    assert_true(parse("*/15 3 * * *").real_time);
    assert_true(parse("0 * * * *").real_time);
    assert_true(parse("@hourly").real_time);
    assert_false(parse("0,15,30,45 0-23 * * *").real_time);
    assert_false(parse("H H * * *").real_time);
    assert_false(parse_as("* 30 2 * * *", true, "").real_time);
}

TEST(h_spreads_by_name_and_stays)
{
    uint64_t minutes = 0;
    uint32_t hours = 0;
    for (int i = 0; i < 2000; i++) {
        char name[16];
        snprintf(name, sizeof name, "job-%d", i);
        struct cron cron = parse_as("H H * * *", false, name);
        assert_int_equal(__builtin_popcountll(cron.minutes), 1);
        assert_int_equal(__builtin_popcount(cron.hours), 1);
        assert_int_equal(parse_as("H H * * *", false, name).minutes, cron.minutes);
        minutes |= cron.minutes;
        hours |= cron.hours;
    }
    assert_int_equal(minutes, BIT(60) - 1);
    assert_int_equal(hours, BIT(24) - 1);
}

/* Written into databases, in a way: whoever changes the hash moves everybody's jobs. */
TEST(h_is_the_same_in_every_version)
{
    struct cron cron = parse_as("H H H H H", false, "nightly-report");
    assert_int_equal(__builtin_ctzll(cron.minutes), 6);
    assert_int_equal(__builtin_ctz(cron.hours), 1);
    assert_int_equal(__builtin_ctz(cron.days), 13);
    assert_int_equal(__builtin_ctz(cron.months), 10);
    assert_int_equal(__builtin_ctz(cron.weekdays), 6);
}

TEST(h_keeps_to_its_range_and_step)
{
    for (int i = 0; i < 500; i++) {
        char name[16];
        snprintf(name, sizeof name, "job-%d", i);
        struct cron cron = parse_as("H/15 H(1-3) H * *", false, name);
        unsigned first = (unsigned)__builtin_ctzll(cron.minutes);
        assert_true(first < 15);
        assert_int_equal(cron.minutes, (BIT(0) | BIT(15) | BIT(30) | BIT(45)) << first);
        assert_int_equal(cron.hours & ~(BIT(1) | BIT(2) | BIT(3)), 0);
        assert_true(__builtin_ctz(cron.days) >= 1 && __builtin_ctz(cron.days) <= 28);
    }
    expect_refusal("H(5-1) * * * *", false, "minute", "backwards");
    expect_refusal("H(5 * * * *", false, "minute", "range");
    expect_refusal("H(1-5 * * * *", false, "minute", "bracket");
    expect_refusal("H5 * * * *", false, "minute", "not understood");
}

TEST(nicknames_stand_for_fields)
{
    static const struct {
        const char *word;
        const char *fields;
    } cases[] = {
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@Midnight", "0 0 * * *"},
        {"@HOURLY", "0 * * * *"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cron word = parse_as(cases[i].word, i % 2 == 0, "");
        struct cron fields = parse(cases[i].fields);
        assert_memory_equal(&word, &fields, sizeof word);
    }
    expect_refusal("@reboot", false, "no reboot to wait for", "`belfry submit`");
    expect_refusal("@fortnightly", false, "@fortnightly", "@weekly");
    expect_refusal("@daily 5", false, "@daily", "@weekly");
}

TEST(every_takes_one_duration)
{
    assert_int_equal(parse("@every 1h30m").every_ms, 5400000);
    assert_int_equal(parse("@EVERY 90s ").every_ms, 90000);
    expect_refusal("@every", false, "@every", "one duration");
    expect_refusal("@every 1h 30m", false, "@every", "one duration");
    expect_refusal("@every 999ms", false, "@every", "at least 1s");
    expect_refusal("@every 365000000d", false, "@every", "at most");
    expect_refusal("@every soon", false, "soon", "not a duration");
}

TEST(a_zone_may_stand_in_front)
{
    struct cron cron;
    struct str zone;
    struct cron_options options = {0};
    struct str text = STR("CRON_TZ=America/New_York 0 3 * * *");
    assert_int_equal(cron_parse(text, &options, &cron, &zone, NULL), RC_OK);
    assert_true(str_eq(zone, STR("America/New_York")));
    assert_int_equal(cron.hours, BIT(3));
    assert_int_equal(cron_parse(STR("CRON_TZ=UTC @daily"), &options, &cron, &zone, NULL), RC_OK);
    assert_int_equal(cron_parse(STR("0 3 * * *"), &options, &cron, &zone, NULL), RC_OK);
    assert_int_equal(zone.len, 0);
    expect_refusal("CRON_TZ= 0 3 * * *", false, "CRON_TZ", "missing");
    expect_refusal("CRON_TZ=UTC", false, "0 fields", "5");
}

TEST(refusals_name_the_field_and_the_reason)
{
    expect_refusal("61 * * * *", false, "minute: ", "61 is not between 0 and 59");
    expect_refusal("60 * * * *", false, "minute: ", "60 is not between 0 and 59");
    expect_refusal("60 * * * * *", true, "second: ", "60 is not between 0 and 59");
    expect_refusal("* 24 * * *", false, "hour: ", "24 is not between 0 and 23");
    expect_refusal("* * 0 * *", false, "day of month: ", "0 is not between 1 and 31");
    expect_refusal("* * 32 * *", false, "day of month: ", "32 is not between 1 and 31");
    expect_refusal("* * * 13 *", false, "month: ", "13 is not between 1 and 12");
    expect_refusal("* * * * 8", false, "day of week: ", "8 is not between 0 and 7");
    expect_refusal("*/0 * * * *", false, "minute: ", "step must be between 1 and 59, not 0");
    expect_refusal("*/90 * * * *", false, "minute: ", "not 90");
    expect_refusal("99999999999999999999 * * * *", false, "minute: ", "not between");
    expect_refusal("* 17-9 * * *", false, "hour: ", "17-9 runs backwards; write 17-23,0-9");
    expect_refusal("1,,2 * * * *", false, "minute: ", "missing");
    expect_refusal("1, * * * *", false, "minute: ", "missing");
    expect_refusal("-5 * * * *", false, "minute: ", "'-5' is not understood");
    expect_refusal("5- * * * *", false, "minute: ", "'5-' is not understood");
    expect_refusal("*5 * * * *", false, "minute: ", "'*5' is not understood");
    expect_refusal("5/ * * * *", false, "minute: ", "not understood");
    expect_refusal("L * * * *", false, "minute: ", "L is the last day of the month");
    expect_refusal("? * * * *", false, "minute: ", "two day fields only");
    expect_refusal("* * * JANUARY *", false, "month: ", "'JANUARY' is not understood");
    expect_refusal("* * * MON *", false, "month: ", "'MON' is not understood");
    expect_refusal("* * L-3 * *", false, "day of month: ", "'L-3' is not understood");
    expect_refusal("* * 15W3 * *", false, "day of month: ", "'15W3' is not understood");
    expect_refusal("* * * * FRI#6", false, "day of week: ", "number 6");
    expect_refusal("* * * * FRI#", false, "day of week: ", "not understood");
    expect_refusal("* * * * L", false, "day of week: ", "FRIL");
    expect_refusal("* * * * FRILY", false, "day of week: ", "not understood");
    expect_refusal("\x01\xff * * * *", false, "minute: ",
                   "'?"
                   "?' is not understood");
}

TEST(the_number_of_fields_must_fit)
{
    expect_refusal("", false, "0 fields", "5");
    expect_refusal("* * * *", false, "4 fields", "minute, hour, day of month, month, day of week");
    expect_refusal("* * * * * * *", false, "7 fields", "5");
    expect_refusal("* * * * * * *", true, "7 fields", "6: second, minute");
}

TEST(a_date_that_never_comes_is_refused)
{
    expect_refusal("0 0 30 2 *", false, "day of month", "never comes");
    expect_refusal("0 0 31 2 *", false, "day of month", "never comes");
    expect_refusal("0 0 31 4,6,9,11 *", false, "day of month", "never comes");
    expect_refusal("0 0 30W 2 *", false, "day of month", "never comes");
    (void)parse("0 0 29 2 *");
    (void)parse("0 0 31 * *");
    (void)parse("0 0 30 2 MON"); /* or a Monday */
    (void)parse("0 0 29 2 */6"); /* on a Sunday or Saturday: that takes a while, but comes */
    (void)parse("0 0 ? 2 THU#5");
}

TEST(a_very_long_text_is_refused)
{
    size_t len = 1 << 20;
    char *text = malloc(len + 1);
    memset(text, '*', len);
    text[len] = '\0';
    expect_refusal(text, false, "at most 1024 bytes", "1048576");
    free(text);
}
