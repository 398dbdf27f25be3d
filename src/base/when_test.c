#include "base/when.h"

#include "base/test/test.h"

#include <string.h>
#include <time.h>

static struct rng rng;

static int64_t parsed(const char *text)
{
    int64_t ms = -1;
    struct err err;
    if (when_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms;
}

static int64_t lasting(const char *text)
{
    int64_t ms = -1;
    struct err err;
    if (duration_parse(str_c(text), &ms, &err))
        fail_msg("%s", err.text);
    return ms;
}

TEST(moments_of_any_year_read_back_the_same)
{
    char text[WHEN_TEXT_MAX];
    uint64_t span = (uint64_t)(WHEN_MAX_MS - WHEN_MIN_MS) + 1;
    for (int i = 0; i < 100000; i++) {
        int64_t at_ms = WHEN_MIN_MS + (int64_t)rng_below(&rng, span);
        int64_t back;
        assert_int_equal(when_parse(when_format(text, at_ms), &back, NULL), RC_OK);
        assert_true(back == at_ms);
    }
}

TEST(moments_agree_with_the_calendar_of_the_system)
{
    char text[WHEN_TEXT_MAX];
    char expected[64];
    for (int i = 0; i < 10000; i++) {
        time_t at = (time_t)rng_below(&rng, (uint64_t)WHEN_MAX_MS / 1000);
        struct tm tm;
        assert_non_null(gmtime_r(&at, &tm));
        assert_int_not_equal(strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.000Z", &tm), 0);
        assert_string_equal(when_format(text, at * INT64_C(1000)).ptr, expected);
    }
}

TEST(the_limits_are_what_they_say)
{
    char text[WHEN_TEXT_MAX];
    assert_string_equal(when_format(text, 0).ptr, "1970-01-01T00:00:00.000Z");
    assert_string_equal(when_format(text, WHEN_MIN_MS).ptr, "0000-01-01T00:00:00.000Z");
    assert_string_equal(when_format(text, WHEN_MAX_MS).ptr, "9999-12-31T23:59:59.999Z");
    assert_string_equal(when_format(text, INT64_MIN).ptr, "0000-01-01T00:00:00.000Z");
    assert_string_equal(when_format(text, INT64_MAX).ptr, "9999-12-31T23:59:59.999Z");
}

TEST(an_offset_leads_to_utc)
{
    int64_t noon = parsed("2026-11-16T12:00:00Z");
    assert_int_equal(parsed("2026-11-16T13:30:00+01:30"), noon);
    assert_int_equal(parsed("2026-11-16T07:00:00-05:00"), noon);
    assert_int_equal(parsed("2026-11-16 12:00:00z"), noon);
    assert_int_equal(parsed("2026-11-16t12:00:00-00:00"), noon);
}

TEST(fractions_are_cut_to_milliseconds)
{
    int64_t second = parsed("2026-11-16T12:00:00Z");
    assert_int_equal(parsed("2026-11-16T12:00:00.5Z"), second + 500);
    assert_int_equal(parsed("2026-11-16T12:00:00.123999999999999999999Z"), second + 123);
}

TEST(leap_days_and_leap_seconds_exist)
{
    assert_int_equal(parsed("2024-02-29T00:00:00Z") + 86400000, parsed("2024-03-01T00:00:00Z"));
    assert_int_equal(parsed("2000-02-29T00:00:00Z") + 86400000, parsed("2000-03-01T00:00:00Z"));
    assert_int_equal(parsed("2016-12-31T23:59:60Z"), parsed("2017-01-01T00:00:00Z"));
}

TEST(what_is_not_a_time_is_refused)
{
    static const char *const bad[] = {
        "",
        "tomorrow",
        "2026-11-16",
        "2026-11-16T12:00",
        "2026-11-16T12:00:00",
        "2026-11-16T12:00:00.Z",
        "2026-11-16T12:00:00Z ",
        "2026-11-16T24:00:00Z",
        "2026-11-16T12:60:00Z",
        "2026-11-16T12:00:61Z",
        "2026-13-16T12:00:00Z",
        "2026-00-16T12:00:00Z",
        "2026-11-00T12:00:00Z",
        "2026-11-31T12:00:00Z",
        "2023-02-29T12:00:00Z",
        "1900-02-29T12:00:00Z",
        "2026-11-16T12:00:00+1:00",
        "2026-11-16T12:00:00+24:00",
        "+2026-11-16T12:00:00Z",
        "9999-12-31T23:59:59-00:01", /* would be the year 10000 */
        "0000-01-01T00:00:00+00:01",
    };
    int64_t ms = 7;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(when_parse(str_c(bad[i]), &ms, &err), RC_INVALID);
    assert_int_equal(ms, 7);
}

TEST(durations_have_units)
{
    assert_int_equal(lasting("250ms"), 250);
    assert_int_equal(lasting("90s"), 90000);
    assert_int_equal(lasting("15m"), 900000);
    assert_int_equal(lasting("1h30m"), 5400000);
    assert_int_equal(lasting("2d"), 172800000);
    assert_int_equal(lasting("1w1d1h1m1s1ms"), 694861001);
    assert_int_equal(lasting("0s"), 0);
}

TEST(what_is_not_a_duration_is_refused)
{
    static const char *const bad[] = {
        "",
        "5",
        "s",
        "5 s",
        "-5s",
        "1.5h",
        "5S",
        "30m1h", /* largest first */
        "1h1h",
        "1y",
        "5s5",
        "5sm",
        "1h 30m",
        "9223372036854775807s", /* does not fit */
        "99999999999999999999ms",
    };
    int64_t ms = 7;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(duration_parse(str_c(bad[i]), &ms, &err), RC_INVALID);
    assert_int_equal(ms, 7);
}

TEST(durations_read_back_the_same)
{
    char text[WHEN_TEXT_MAX];
    for (int i = 0; i < 100000; i++) {
        int64_t ms = (int64_t)(rng_next(&rng) >> (1 + rng_below(&rng, 63)));
        int64_t back;
        assert_int_equal(duration_parse(duration_format(text, ms), &back, NULL), RC_OK);
        assert_true(back == ms);
    }
}

TEST(durations_are_written_in_their_shortest_form)
{
    char text[WHEN_TEXT_MAX];
    assert_string_equal(duration_format(text, 0).ptr, "0s");
    assert_string_equal(duration_format(text, 5400000).ptr, "1h30m");
    assert_string_equal(duration_format(text, 3600000).ptr, "1h");
    assert_string_equal(duration_format(text, 21 * INT64_C(86400000)).ptr, "21d");
    assert_string_equal(duration_format(text, INT64_MAX).ptr, "106751991167d7h12m55s807ms");
}

TEST(a_moment_reads_the_same_with_an_offset)
{
    static const int32_t offsets_s[] = {0, 3600, -12600, 20700, 50400, -2670};
    for (size_t i = 0; i < COUNT_OF(offsets_s); i++) {
        char text[WHEN_TEXT_MAX];
        int64_t ms = INT64_C(1794816000123);
        int64_t back;
        struct str local = when_format_local(text, ms, offsets_s[i]);
        assert_int_equal(strlen(text), local.len);
        assert_int_equal(when_parse(local, &back, NULL), RC_OK);
        assert_int_equal(back, ms);
    }
    char text[WHEN_TEXT_MAX];
    when_format_local(text, INT64_C(1794816000000), -12600);
    assert_string_equal(text, "2026-11-16T04:30:00.000-03:30");
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)
