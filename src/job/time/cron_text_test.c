#include "job/time/cron.h"

#include "base/test/test.h"

struct text_case {
    const char *text;
    const char *words;
};

static void expect_words(const struct text_case *cases, size_t count, bool seconds)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(buf_free) struct buf out = BUF(4096);
        struct cron cron;
        struct str zone;
        struct err err = {0};
        struct cron_options options = {.seconds = seconds};
        if (cron_parse(str_c(cases[i].text), &options, &cron, &zone, &err))
            fail_msg("'%s': %s", cases[i].text, err.text);
        cron_text(&cron, &out);
        buf_add_char(&out, '\0');
        assert_string_equal(out.ptr, cases[i].words);
    }
}

TEST(times_of_day_are_listed)
{
    static const struct text_case cases[] = {
        {"0 3 * * *", "at 03:00 every day"},
        {"0 9,12 * * *", "at 09:00 and 12:00 every day"},
        {"0,30 9,17 * * *", "at 09:00, 09:30, 17:00 and 17:30 every day"},
        {"@daily", "at 00:00 every day"},
    };
    expect_words(cases, COUNT_OF(cases), false);
}

TEST(beats_are_told_as_such)
{
    static const struct text_case cases[] = {
        {"* * * * *", "every minute"},
        {"*/15 * * * *", "every 15 minutes"},
        {"0,15,30,45 * * * *", "every 15 minutes"},
        {"@hourly", "every hour"},
        {"0 */2 * * *", "every 2 hours"},
        {"0 8-18 * * *", "every hour from 08:00 to 18:00"},
        {"30 * * * *", "at minute 30 of every hour"},
        {"30 */2 * * *", "at minute 30 of hours 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 22"},
        {"*/15 9-17 * * *", "every 15 minutes of hours 9 to 17"},
        {"* 3 * * *", "every minute of hour 3"},
        {"@every 90s", "every 1m30s"},
    };
    expect_words(cases, COUNT_OF(cases), false);
}

TEST(a_step_that_does_not_divide_the_hour_is_told_in_full)
{
    static const struct text_case cases[] = {
        {"*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"},
        {"*/40 * * * *", "at minutes 0 and 40 of every hour"},
    };
    expect_words(cases, COUNT_OF(cases), false);
}

TEST(seconds_are_told_when_there_are_any)
{
    static const struct text_case cases[] = {
        {"* * * * * *", "every second"},
        {"*/10 * * * * *", "every 10 seconds"},
        {"0 * * * * *", "every minute"},
        {"30 0 3 * * *", "at 03:00:30 every day"},
        {"* 30 2 * * *", "every second of minute 30 of hour 2"},
    };
    expect_words(cases, COUNT_OF(cases), true);
}

TEST(days_are_told_with_their_rule)
{
    static const struct text_case cases[] = {
        {"0 3 * * MON-FRI", "at 03:00 on Monday to Friday"},
        {"0 3 * * 6,0", "at 03:00 on Sunday and Saturday"},
        {"0 3 1,15 * *", "at 03:00 on days 1 and 15 of the month"},
        {"0 3 L * *", "at 03:00 on the last day of the month"},
        {"0 3 1,LW * *", "at 03:00 on day 1 and the last working day of the month"},
        {"0 9 15W * *", "at 09:00 on the working day nearest to day 15 of the month"},
        {"0 3 * * FRI#2", "at 03:00 on the second Friday of the month"},
        {"0 3 * * MON,FRIL", "at 03:00 on Monday and the last Friday of the month"},
        {"0 0 1-7 * MON", "at 00:00 on days 1 to 7 of the month, or on Monday"},
        {"0 0 */15 * MON",
         "at 00:00 on days 1, 16 and 31 of the month, but only if that is Monday"},
        {"0 0 1-31 * MON", "at 00:00 every day"},
        {"*/5 * * * MON", "every 5 minutes on Monday"},
    };
    expect_words(cases, COUNT_OF(cases), false);
}

TEST(months_come_last)
{
    static const struct text_case cases[] = {
        {"0 0 1 1 *", "at 00:00 on day 1 of the month in January"},
        {"0 0 * 1,4,7-9 *", "at 00:00 every day in January, April and July to September"},
        {"0 0 29 2 *", "at 00:00 on day 29 of the month in February"},
    };
    expect_words(cases, COUNT_OF(cases), false);
}
