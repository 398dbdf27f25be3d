#include "base/date.h"

#include "base/test/test.h"
#include "base/when.h"
#include "job/time/calendar.h"
#include "job/time/tzif_test.h"

#include <string.h>

static struct arena arena;
static struct zone *berlin;
static struct rng rng;
static struct calendar_draft draft;

static int start(void **state)
{
    (void)state;
    arena_reset(&arena);
    draft = (struct calendar_draft){.arena = &arena};
    return 0;
}

static int64_t at(const char *text)
{
    int64_t ms;
    struct err err;
    if (when_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms / 1000;
}

static void expect_free(const struct calendar *calendar, const char *when)
{
    int64_t until_s;
    if (calendar_covers(calendar, berlin, at(when), &until_s))
        fail_msg("%s is not free", when);
    assert_int_equal(until_s, at(when));
}

static void expect_covered(const struct calendar *calendar, const char *when, const char *until)
{
    char text[WHEN_TEXT_MAX];
    int64_t until_s;
    if (!calendar_covers(calendar, berlin, at(when), &until_s))
        fail_msg("%s is free", when);
    if (until_s != at(until))
        fail_msg("%s is covered until %.*s, not %s", when,
                 STR_ARG(when_format(text, until_s * 1000)), until);
}

static void dates(const char *text)
{
    struct err err = {0};
    if (calendar_add_dates(&draft, str_c(text), &err))
        fail_msg("%s: %s", text, err.text);
}

static void weekly(const char *text)
{
    struct err err = {0};
    if (calendar_add_weekly(&draft, str_c(text), &err))
        fail_msg("%s: %s", text, err.text);
}

static void window(const char *from, const char *to)
{
    struct err err = {0};
    if (calendar_add_window(&draft, str_c(from), str_c(to), &err))
        fail_msg("%s: %s", from, err.text);
}

TEST(an_empty_calendar_covers_nothing, start)
{
    struct calendar calendar = calendar_make(&draft);
    expect_free(&calendar, "2026-12-25T12:00:00Z");
}

TEST(a_date_is_a_day_by_the_clocks_of_the_zone, start)
{
    dates("2026-12-25");
    struct calendar calendar = calendar_make(&draft);
    expect_free(&calendar, "2026-12-24T23:59:59+01:00");
    expect_covered(&calendar, "2026-12-25T00:00:00+01:00", "2026-12-26T00:00:00+01:00");
    expect_covered(&calendar, "2026-12-25T23:59:59+01:00", "2026-12-26T00:00:00+01:00");
    expect_free(&calendar, "2026-12-26T00:00:00+01:00");
}

TEST(a_range_of_dates_has_both_its_ends, start)
{
    dates("2026-12-24/2027-01-01");
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-12-24T00:00:00+01:00", "2027-01-02T00:00:00+01:00");
    expect_covered(&calendar, "2027-01-01T23:00:00+01:00", "2027-01-02T00:00:00+01:00");
}

TEST(a_day_may_have_25_hours, start)
{
    dates("2026-10-25");
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00");
}

TEST(a_week_goes_on_over_its_end, start)
{
    weekly("Sat 00:00-Mon 06:00");
    struct calendar calendar = calendar_make(&draft);
    expect_free(&calendar, "2026-11-13T23:59:59+01:00");
    expect_covered(&calendar, "2026-11-14T00:00:00+01:00", "2026-11-16T06:00:00+01:00");
    expect_covered(&calendar, "2026-11-16T05:59:59+01:00", "2026-11-16T06:00:00+01:00");
    expect_free(&calendar, "2026-11-16T06:00:00+01:00");
    expect_covered(&calendar, "1926-11-13T00:00:00Z", "1926-11-15T05:00:00Z"); /* a Saturday too */
}

TEST(a_window_in_a_fold_is_there_twice, start)
{
    weekly("Sun 02:15-Sun 02:45");
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-10-25T02:15:00+02:00", "2026-10-25T02:45:00+02:00");
    expect_free(&calendar, "2026-10-25T02:45:00+02:00");
    expect_covered(&calendar, "2026-10-25T02:15:00+01:00", "2026-10-25T02:45:00+01:00");
}

TEST(a_window_over_a_fold_has_no_hole, start)
{
    weekly("Sun 01:30-Sun 03:30");
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-10-25T02:30:00+02:00", "2026-10-25T03:30:00+01:00");
}

TEST(a_window_that_ends_in_a_gap_ends_with_it, start)
{
    weekly("Sun 01:30-Sun 02:30");
    weekly("Sun 02:10-Sun 02:20"); /* which never comes */
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00");
    expect_free(&calendar, "2026-03-29T03:00:00+02:00");
}

TEST(moments_are_the_same_everywhere, start)
{
    window("2026-11-20T22:00:00-05:00", "2026-11-21T04:00:00.500Z");
    window("2026-11-22T22:00", "2026-11-22T23:30:15");
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-11-21T03:00:00Z", "2026-11-21T04:00:01Z");
    expect_free(&calendar, "2026-11-21T02:59:59Z");
    expect_covered(&calendar, "2026-11-22T22:00:00+01:00", "2026-11-22T23:30:15+01:00");
}

TEST(entries_that_follow_one_another_are_one_wait, start)
{
    weekly("Sat 00:00-Mon 00:00");
    dates("2026-12-25"); /* a Friday */
    dates("2026-12-28");
    window("2026-12-29T00:00:00+01:00", "2026-12-29T08:00:00+01:00");
    struct calendar calendar = calendar_make(&draft);
    expect_covered(&calendar, "2026-12-25T10:00:00+01:00", "2026-12-29T08:00:00+01:00");
}

TEST(what_never_ends_is_asked_again_later, start)
{
    weekly("Mon 00:00-Sun 24:00");
    struct calendar calendar = calendar_make(&draft);
    int64_t until_s;
    assert_true(calendar_covers(&calendar, berlin, at("2026-01-01T00:00:00Z"), &until_s));
    assert_true(until_s > at("2027-01-01T00:00:00Z"));
    assert_true(calendar_covers(&calendar, berlin, until_s, &until_s));
}

TEST(texts_that_make_no_sense_are_refused, start)
{
    static const char *const bad_dates[] = {
        "",
        "2026-02-29",
        "2026-13-01",
        "2026-12-00",
        "26-12-25",
        "2026-12-25 ",
        "2026-12-25/",
        "/2026-12-25",
        "2026-12-25/2026-12-24",
        "2026-1-1",
    };
    static const char *const bad_weeks[] = {
        "",
        "Sat",
        "Sat 00:00",
        "Sat 00:00-",
        "Sat 00:00-Sat 00:00",
        "Sun 24:00-Mon 00:00",
        "Sat 24:01-Sun 00:00",
        "Sat 0:00-Sun 00:00",
        "Xyz 00:00-Sun 00:00",
        "Sat 00:00-Sun 00:60",
        "Sat 00:00-Sun 01:00 ",
    };
    static const char *const bad_windows[][2] = {
        {"2026-11-20T22:00", "2026-11-20T22:00"},
        {"2026-11-20T22:00", "2026-11-20T21:00"},
        {"2026-11-20T22:00", "2026-11-21T22:00:00Z"},
        {"2026-11-20", "2026-11-21"},
        {"", ""},
    };
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bad_dates); i++)
        assert_int_equal(calendar_add_dates(&draft, str_c(bad_dates[i]), &err), RC_INVALID);
    for (size_t i = 0; i < COUNT_OF(bad_weeks); i++)
        assert_int_equal(calendar_add_weekly(&draft, str_c(bad_weeks[i]), &err), RC_INVALID);
    for (size_t i = 0; i < COUNT_OF(bad_windows); i++)
        assert_int_equal(
            calendar_add_window(&draft, str_c(bad_windows[i][0]), str_c(bad_windows[i][1]), &err),
            RC_INVALID);
    assert_int_equal(draft.entry_count, 0);
}

TEST(entries_are_counted, start)
{
    struct calendar_rule rule = {.interval = 1, .length_s = 1, .last_s = ZONE_EVER_S};
    struct err err;
    for (int i = 0; i < CALENDAR_RULES_MAX; i++)
        assert_int_equal(calendar_add_rule(&draft, &rule, &err), RC_OK);
    assert_int_equal(calendar_add_rule(&draft, &rule, &err), RC_TOO_LARGE);
    for (int i = CALENDAR_RULES_MAX; i < CALENDAR_ENTRIES_MAX; i++)
        dates("2026-12-25");
    assert_int_equal(calendar_add_dates(&draft, STR("2026-12-25"), &err), RC_TOO_LARGE);
    assert_int_equal(calendar_add_weekly(&draft, STR("Sat 00:00-Sun 00:00"), &err), RC_TOO_LARGE);
    assert_int_equal(calendar_make(&draft).local.count, 1);
}

/* Back to back, each a minute of every day. */
static struct calendar minutes(int count)
{
    struct err err;
    struct calendar_rule rule = {.interval = 1, .length_s = 60, .last_s = ZONE_EVER_S};
    for (int i = 0; i < count; i++, rule.start_s += 60)
        assert_int_equal(calendar_add_rule(&draft, &rule, &err), RC_OK);
    return calendar_make(&draft);
}

TEST(a_question_takes_few_steps_whatever_the_calendar_says, start)
{
    struct calendar few = minutes(60);
    expect_covered(&few, "2026-11-19T23:00:00Z", "2026-11-20T00:00:00Z");
    assert_int_equal(start(NULL), 0);
    struct calendar many = minutes(CALENDAR_RULES_MAX);
    expect_covered(&many, "2026-11-19T23:00:00Z", "2026-11-19T23:03:00Z");
    expect_covered(&many, "2026-11-19T23:03:00Z", "2026-11-19T23:06:00Z");
}

/* ---- against a walk, minute by minute, over what was said and not over what was made of it */

enum { SAID = 12, DAY_S = 86400, WALK_S = 30 * DAY_S };

struct said {
    int kind; /* local, moments, weekly */
    int64_t begin_s;
    int64_t end_s;
};

static bool said_covers(const struct said *said, int64_t at_s)
{
    int64_t local_s = at_s + zone_span(berlin, at_s).offset_s;
    for (size_t i = 0; i < SAID; i++) {
        int64_t t = said[i].kind == 1 ? at_s : local_s;
        if (said[i].kind == 2) { /* the week of 2026 that begins on the 5th of January, a Monday */
            t = (local_s - 20458 * (int64_t)DAY_S) % (7 * DAY_S);
            t += t < 0 ? 7 * DAY_S : 0;
            t += t < said[i].begin_s ? 7 * DAY_S : 0;
        }
        if (t >= said[i].begin_s && t < said[i].end_s)
            return true;
    }
    return false;
}

/* Something of minutes to days; weekly ones are said as people do. */
static struct said say(int64_t from_s)
{
    static const char names[] = "MonTueWedThuFriSatSun";
    struct err err;
    struct said said = {.kind = (int)rng_below(&rng, 3)};
    int64_t length_s = (int64_t)(1 + rng_below(&rng, 2 * 1440)) * 60;
    said.begin_s = said.kind == 2 ? (int64_t)rng_below(&rng, 7 * 1440) * 60
                                  : from_s + (int64_t)rng_below(&rng, WALK_S / 60) * 60;
    said.end_s = said.begin_s + length_s;
    struct calendar_span span = {said.begin_s, said.end_s};
    if (said.kind == 0)
        assert_int_equal(calendar_add_local(&draft, span, &err), RC_OK);
    if (said.kind == 1)
        assert_int_equal(calendar_add_moments(&draft, span, &err), RC_OK);
    if (said.kind == 2) {
        int begin = (int)(said.begin_s / 60);
        int end = (int)(said.end_s / 60 % (7 * 1440));
        weekly(arena_printf(&arena, "%.3s %02d:%02d-%.3s %02d:%02d", names + begin / 1440 * 3,
                            begin / 60 % 24, begin % 60, names + end / 1440 * 3, end / 60 % 24,
                            end % 60)
                   .ptr);
    }
    return said;
}

TEST(asking_agrees_with_a_walk_over_what_was_said, start)
{
    static const char *const starts[] = {"2026-03-15T00:00:00Z", "2026-10-10T00:00:00Z"};
    for (int round = 0; round < 40; round++) {
        struct said said[SAID];
        int64_t from_s = at(starts[round % 2]);
        start(NULL);
        for (size_t i = 0; i < SAID; i++)
            said[i] = say(from_s);
        struct calendar calendar = calendar_make(&draft);
        int64_t until_s = 0;
        for (int64_t t = from_s + WALK_S; t >= from_s; t -= 60) {
            int64_t found_s;
            until_s = said_covers(said, t) ? until_s : t;
            if (t == from_s + WALK_S)
                (void)calendar_covers(&calendar, berlin, t, &until_s);
            assert_int_equal(calendar_covers(&calendar, berlin, t, &found_s), said_covers(said, t));
            assert_int_equal(found_s, until_s);
        }
    }
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    return 0;
}

static int end(void **state)
{
    (void)state;
    zone_free(berlin);
    arena_free(&arena);
    return 0;
}

TEST_GROUP(begin, end)
