/* The nights and dates that schedulers are known to get wrong, in real zones. */
#include "base/when.h"
#include "job/time/schedule.h"
#include "system_zones.h"

#include <stdio.h>
#include <string.h>

static struct system_zones all;

/* An expression in a zone, and how it treats changes of the clock. */
struct plan {
    const char *zone;
    const char *text;
    enum cron_gap gap;
    enum cron_fold fold;
};

static struct cron parse(const char *text)
{
    struct cron cron = {0};
    struct str zone;
    struct err err = {0};
    struct cron_options options = {.name = STR("nightly")};
    if (cron_parse(str_c(text), &options, &cron, &zone, &err))
        fail_msg("'%s': %s", text, err.text);
    return cron;
}

static int64_t at(const char *text)
{
    int64_t ms;
    struct err err;
    if (when_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms / 1000;
}

/* The next firings, as "2026-03-29T01:00:00Z" each. Nominal times are checked where they are given:
 * "2026-03-29T01:00:00Z for 02:30". */
static void expect_runs(const struct plan *plan, const char *from, const char *const *wanted)
{
    struct cron cron = parse(plan->text);
    struct cron_clock clock = {system_zone(&all, plan->zone), plan->gap, plan->fold};
    struct cron_slot slot = cron_from(at(from));
    for (size_t i = 0; wanted[i] != NULL; i++) {
        char text[WHEN_TEXT_MAX];
        char found[64];
        if (!cron_next(&cron, &clock, &slot, &slot))
            fail_msg("'%s' ends", plan->text);
        when_format(text, slot.at_s * 1000);
        snprintf(found, sizeof found, "%.19sZ", text);
        if (strchr(wanted[i], ' ') != NULL) {
            when_format(text, slot.nominal_s * 1000);
            snprintf(found + 20, sizeof found - 20, " for %.5s", text + 11);
        }
        if (strcmp(found, wanted[i]) != 0)
            fail_msg("'%s' in %s after %s, run %zu: found %s, wanted %s", plan->text, plan->zone,
                     from, i + 1, found, wanted[i]);
    }
}

#define RUNS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(new_york_has_no_half_past_two_in_spring)
{
    struct plan plan = {.zone = "America/New_York", .text = "30 2 * * *"};
    expect_runs(&plan, "2026-03-07T08:00:00Z",
                RUNS("2026-03-08T07:00:00Z for 02:30", "2026-03-09T06:30:00Z for 02:30"));
    plan.gap = CRON_GAP_SKIP;
    expect_runs(&plan, "2026-03-07T08:00:00Z", RUNS("2026-03-09T06:30:00Z for 02:30"));
}

TEST(all_slots_of_a_gap_become_one)
{
    struct plan plan = {.zone = "America/New_York", .text = "0,15,30,45 2 * * *"};
    expect_runs(&plan, "2026-03-07T08:00:00Z",
                RUNS("2026-03-08T07:00:00Z for 02:45", "2026-03-09T06:00:00Z for 02:00"));
    plan.text = "30 2,3 * * *";
    expect_runs(&plan, "2026-03-07T08:30:00Z",
                RUNS("2026-03-08T07:00:00Z for 02:30", "2026-03-08T07:30:00Z for 03:30"));
}

TEST(the_instant_at_which_a_gap_ends_fires_once)
{
    struct plan plan = {.zone = "America/New_York", .text = "0 2,3 * * *"};
    expect_runs(&plan, "2026-03-07T08:00:00Z",
                RUNS("2026-03-08T07:00:00Z for 03:00", "2026-03-09T06:00:00Z for 02:00"));
    plan.gap = CRON_GAP_SKIP;
    expect_runs(&plan, "2026-03-07T08:00:00Z",
                RUNS("2026-03-08T07:00:00Z for 03:00", "2026-03-09T06:00:00Z for 02:00"));
}

TEST(berlin_has_half_past_two_twice_in_autumn)
{
    struct plan plan = {.zone = "Europe/Berlin", .text = "30 2 * * *"};
    expect_runs(&plan, "2026-10-24T12:00:00Z",
                RUNS("2026-10-25T00:30:00Z for 02:30", "2026-10-26T01:30:00Z for 02:30"));
    plan.fold = CRON_FOLD_SECOND;
    expect_runs(&plan, "2026-10-24T12:00:00Z",
                RUNS("2026-10-25T01:30:00Z for 02:30", "2026-10-26T01:30:00Z for 02:30"));
    plan.fold = CRON_FOLD_BOTH;
    expect_runs(&plan, "2026-10-24T12:00:00Z",
                RUNS("2026-10-25T00:30:00Z for 02:30", "2026-10-25T01:30:00Z for 02:30",
                     "2026-10-26T01:30:00Z for 02:30"));
}

TEST(stars_follow_real_time_through_both)
{
    struct plan plan = {.zone = "Europe/Berlin", .text = "*/30 * * * *"};
    expect_runs(&plan, "2026-10-25T00:00:00Z",
                RUNS("2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z",
                     "2026-10-25T02:00:00Z"));
    expect_runs(&plan, "2026-03-29T00:00:00Z",
                RUNS("2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"));
    plan.text = "*/30 2 * * *"; /* nothing in the gap, and no firing for it either */
    expect_runs(&plan, "2026-03-28T12:00:00Z", RUNS("2026-03-30T00:00:00Z"));
}

TEST(lord_howe_moves_by_half_an_hour)
{
    struct plan plan = {.zone = "Australia/Lord_Howe", .text = "15 2 * * *"};
    expect_runs(&plan, "2025-10-04T00:00:00Z", /* 02:00 becomes 02:30 */
                RUNS("2025-10-04T15:30:00Z for 02:15", "2025-10-05T15:15:00Z for 02:15"));
    plan.text = "45 1 * * *";
    expect_runs(&plan, "2026-04-04T00:00:00Z", /* and 02:00 becomes 01:30 */
                RUNS("2026-04-04T14:45:00Z for 01:45", "2026-04-05T15:15:00Z for 01:45"));
    plan.fold = CRON_FOLD_SECOND;
    expect_runs(&plan, "2026-04-04T00:00:00Z", RUNS("2026-04-04T15:15:00Z for 01:45"));
}

TEST(apia_had_no_30_december_2011)
{
    struct plan plan = {.zone = "Pacific/Apia", .text = "0 9 * * *"};
    expect_runs(&plan, "2011-12-29T12:00:00Z", /* the 29th at nine, midnight of the 31st, nine */
                RUNS("2011-12-29T19:00:00Z for 09:00", "2011-12-30T10:00:00Z for 09:00",
                     "2011-12-30T19:00:00Z for 09:00"));
    plan.gap = CRON_GAP_SKIP;
    expect_runs(&plan, "2011-12-29T12:00:00Z",
                RUNS("2011-12-29T19:00:00Z for 09:00", "2011-12-30T19:00:00Z for 09:00"));
    plan = (struct plan){.zone = "Pacific/Apia", .text = "0 0 * * *"};
    expect_runs(&plan, "2011-12-29T09:00:00Z",
                RUNS("2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"));
}

TEST(dublin_calls_its_winter_the_exception)
{
    struct plan plan = {.zone = "Europe/Dublin", .text = "30 1 * * *"};
    expect_runs(&plan, "2026-03-28T12:00:00Z", RUNS("2026-03-29T01:00:00Z for 01:30"));
    expect_runs(&plan, "2026-10-24T12:00:00Z",
                RUNS("2026-10-25T00:30:00Z for 01:30", "2026-10-26T01:30:00Z for 01:30"));
}

TEST(casablanca_changes_for_ramadan)
{
    struct plan plan = {.zone = "Africa/Casablanca", .text = "30 2 * * *"};
    expect_runs(&plan, "2026-02-14T12:00:00Z", /* 03:00 becomes 02:00 on 15 February */
                RUNS("2026-02-15T01:30:00Z for 02:30", "2026-02-16T02:30:00Z for 02:30"));
    expect_runs(&plan, "2026-03-21T12:00:00Z", /* and 02:00 becomes 03:00 on 22 March */
                RUNS("2026-03-22T02:00:00Z for 02:30", "2026-03-23T01:30:00Z for 02:30"));
}

TEST(kathmandu_is_five_hours_and_45_minutes_ahead)
{
    struct plan plan = {.zone = "Asia/Kathmandu", .text = "0 3 * * *"};
    expect_runs(&plan, "2026-11-16T00:00:00Z",
                RUNS("2026-11-16T21:15:00Z", "2026-11-17T21:15:00Z"));
    plan.text = "*/15 * * * *";
    expect_runs(&plan, "2026-11-16T00:01:00Z", RUNS("2026-11-16T00:15:00Z"));
}

TEST(the_far_future_has_summer_too)
{
    struct plan plan = {.zone = "Europe/Berlin", .text = "0 12 1 1,7 *"};
    expect_runs(&plan, "2099-12-01T00:00:00Z",
                RUNS("2100-01-01T11:00:00Z", "2100-07-01T10:00:00Z"));
    expect_runs(&plan, "9999-06-01T00:00:00Z", RUNS("9999-07-01T10:00:00Z"));
    plan.text = "30 2 * * *";
    expect_runs(&plan, "2100-03-27T12:00:00Z", RUNS("2100-03-28T01:00:00Z for 02:30"));
}

TEST(schedules_end_with_the_year_9999)
{
    struct cron cron = parse("0 0 1 1 *");
    struct cron_clock clock = {.zone = system_zone(&all, "Europe/Berlin")};
    struct cron_slot slot = cron_from(at("9999-06-01T00:00:00Z"));
    assert_false(cron_next(&cron, &clock, &slot, &slot));
    assert_int_equal(cron_count(&cron, &clock, &slot, at("9999-12-31T23:59:59Z")), 0);
}

TEST(leap_days_wait_for_their_year)
{
    struct plan plan = {.zone = "UTC", .text = "0 0 29 2 *"};
    expect_runs(&plan, "2026-01-01T00:00:00Z",
                RUNS("2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"));
    expect_runs(&plan, "2096-03-01T00:00:00Z", RUNS("2104-02-29T00:00:00Z"));
    plan.text = "0 0 29 2 */7"; /* and a Sunday */
    expect_runs(&plan, "2060-03-01T00:00:00Z",
                RUNS("2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z"));
}

TEST(short_months_are_passed_over)
{
    struct plan plan = {.zone = "UTC", .text = "0 0 31 * *"};
    expect_runs(&plan, "2026-01-31T00:00:00Z",
                RUNS("2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z",
                     "2026-08-31T00:00:00Z"));
    plan.text = "0 0 L * *";
    expect_runs(&plan, "2026-01-31T00:00:00Z",
                RUNS("2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z"));
}

TEST(a_step_of_seven_starts_again_each_hour)
{
    struct plan plan = {.zone = "UTC", .text = "*/7 * * * *"};
    expect_runs(&plan, "2026-11-16T00:49:00Z",
                RUNS("2026-11-16T00:56:00Z", "2026-11-16T01:00:00Z", "2026-11-16T01:07:00Z"));
}

TEST(working_days_stay_in_their_month)
{
    struct plan plan = {.zone = "UTC", .text = "0 9 15W * *"};
    expect_runs(&plan, "2026-07-16T00:00:00Z", /* Saturday 15 August, Tuesday, Thursday, Sunday */
                RUNS("2026-08-14T09:00:00Z", "2026-09-15T09:00:00Z", "2026-10-15T09:00:00Z",
                     "2026-11-16T09:00:00Z"));
    plan.text = "0 9 1W * *"; /* 1 August is a Saturday: not the 31st of July */
    expect_runs(&plan, "2026-07-16T00:00:00Z", RUNS("2026-08-03T09:00:00Z"));
    plan.text = "0 9 31W * *"; /* 31 May is a Sunday: not the first of June, and June has no 31st */
    expect_runs(&plan, "2026-05-16T00:00:00Z",
                RUNS("2026-05-29T09:00:00Z", "2026-07-31T09:00:00Z"));
    plan.text = "0 9 LW * *";
    expect_runs(&plan, "2026-05-16T00:00:00Z",
                RUNS("2026-05-29T09:00:00Z", "2026-06-30T09:00:00Z"));
}

TEST(weekdays_are_counted_within_their_month)
{
    struct plan plan = {.zone = "UTC", .text = "0 0 * * FRI#2"};
    expect_runs(&plan, "2026-11-01T00:00:00Z",
                RUNS("2026-11-13T00:00:00Z", "2026-12-11T00:00:00Z"));
    plan.text = "0 0 * * FRIL";
    expect_runs(&plan, "2026-11-01T00:00:00Z",
                RUNS("2026-11-27T00:00:00Z", "2026-12-25T00:00:00Z"));
    plan.text = "0 0 * * SUN#5";
    expect_runs(&plan, "2026-11-01T00:00:00Z",
                RUNS("2026-11-29T00:00:00Z", "2027-01-31T00:00:00Z"));
}

TEST(two_restricted_day_fields_mean_either)
{
    struct plan plan = {.zone = "UTC", .text = "0 0 1-7 * MON"};
    expect_runs(&plan, "2026-11-05T12:00:00Z",
                RUNS("2026-11-06T00:00:00Z", "2026-11-07T00:00:00Z", "2026-11-09T00:00:00Z",
                     "2026-11-16T00:00:00Z"));
    plan.text = "*/2 * 1 * MON";
    expect_runs(&plan, "2026-11-30T23:57:00Z",
                RUNS("2026-11-30T23:58:00Z", "2026-12-01T00:00:00Z", "2026-12-01T00:02:00Z"));
    expect_runs(&plan, "2026-12-01T23:58:00Z", RUNS("2026-12-07T00:00:00Z"));
}

TEST(a_leading_star_means_both)
{
    struct plan plan = {.zone = "UTC", .text = "0 0 */2 * MON"};
    expect_runs(&plan, "2026-11-01T12:00:00Z",
                RUNS("2026-11-09T00:00:00Z", "2026-11-23T00:00:00Z", "2026-12-07T00:00:00Z"));
}

/* On 7 March it fires for 03:00, the law then moves the clock, and 03:00 comes up an hour later. */
TEST(a_zone_that_changes_by_law_keeps_no_promise_twice)
{
    struct cron cron = parse("0 3 * * *");
    struct cron_clock before = {.zone = system_zone(&all, "Etc/GMT-2")};
    struct cron_clock after = {.zone = system_zone(&all, "Etc/GMT-1")};
    struct cron_slot slot = cron_from(at("2026-03-06T12:00:00Z"));
    assert_true(cron_next(&cron, &before, &slot, &slot));
    assert_int_equal(slot.at_s, at("2026-03-07T01:00:00Z"));
    assert_int_equal(cron_count(&cron, &after, &slot, at("2026-03-07T12:00:00Z")), 0);
    assert_true(cron_next(&cron, &after, &slot, &slot));
    assert_int_equal(slot.at_s, at("2026-03-08T02:00:00Z"));
}

TEST(h_has_one_time_of_day_on_every_day)
{
    struct cron cron = parse("H H * * *");
    struct cron_clock clock = {.zone = zone_utc()};
    struct cron_slot first = cron_from(at("2026-11-16T00:00:00Z"));
    struct cron_slot second;
    assert_true(cron_next(&cron, &clock, &first, &first));
    assert_true(cron_next(&cron, &clock, &first, &second));
    assert_int_equal(second.at_s - first.at_s, 86400);
}

static int begin(void **state)
{
    (void)state;
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
