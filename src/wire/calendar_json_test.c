#include "base/date.h"
#include "wire/calendar_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static struct field_errors errors;

static int start(void **state)
{
    (void)state;
    arena_reset(&arena);
    errors = (struct field_errors){.count = 0};
    return 0;
}

static enum rc parse(const char *text, struct calendar *ret_calendar)
{
    struct json doc;
    struct err err;
    if (json_parse(str_c(text), &arena, &doc, &err))
        fail_msg("%s", err.text);
    return calendar_parse(&doc, &arena, ret_calendar, &errors);
}

static void expect_errors(const char *text, const char *fields)
{
    CLEANUP(buf_free) struct buf found = BUF(1 << 10);
    struct calendar calendar;
    start(NULL);
    assert_int_equal(parse(text, &calendar), RC_INVALID);
    for (size_t i = 0; i < errors.count; i++)
        buf_printf(&found, "%s%.*s", i > 0 ? " " : "", STR_ARG(errors.items[i].field));
    if (!str_eq(buf_str(&found), str_c(fields)))
        fail_msg("'%.*s' instead of '%s'", STR_ARG(buf_str(&found)), fields);
}

static void all_three_kinds_become_one_calendar(void **state)
{
    (void)state;
    struct calendar calendar;
    assert_int_equal(
        parse("{\"dates\": [\"2026-12-25\", \"2026-12-26/2026-12-31\", \"2027-01-06\"],"
              " \"weekly\": [\"sat 00:00-MON 06:00\"],"
              " \"windows\": [{\"from\": \"2026-11-20T22:00\", \"to\": \"2026-11-21T04:00\"},"
              " {\"from\": \"2026-11-20T22:00:00Z\", \"to\": \"2026-11-21T04:00:00Z\"}]}",
              &calendar),
        RC_OK);
    assert_int_equal(calendar.local.count, 3);
    assert_int_equal(calendar.moments.count, 1);
    assert_int_equal(calendar.weekly.count, 2); /* cut where the week ends */
    int64_t until_s;
    assert_true(
        calendar_covers(&calendar, zone_utc(), date_to_days(2026, 12, 25) * 86400, &until_s));
    assert_int_equal(until_s, date_to_days(2027, 1, 1) * 86400);
}

static void an_empty_document_is_an_empty_calendar(void **state)
{
    (void)state;
    struct calendar calendar;
    int64_t until_s;
    assert_int_equal(parse("{\"dates\": []}", &calendar), RC_OK);
    assert_false(calendar_covers(&calendar, zone_utc(), 0, &until_s));
}

static void every_problem_is_reported_where_it_is(void **state)
{
    (void)state;
    expect_errors("{\"dates\": [\"2026-12-25\", \"2026-02-29\", 7], \"weekly\": \"Sat\"}",
                  "dates[1] dates[2] weekly");
    expect_errors("{\"windows\": [{\"from\": \"2026-11-20T22:00\"}, 1,"
                  " {\"from\": \"2026-11-20T22:00\", \"to\": \"2026-11-20T21:00\"}]}",
                  "windows[0].to windows[1] windows[2]");
    expect_errors("{\"day\": []}", "day");
    expect_errors("[]", "");
}

static void entries_over_the_limit_are_refused_once(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf text = BUF(1 << 20);
    buf_add(&text, STR("{\"dates\": [\"2026-12-25\""));
    for (int i = 0; i < CALENDAR_ENTRIES_MAX; i++)
        buf_add(&text, STR(",\"2026-12-25\""));
    buf_printf(&text, "]}%c", '\0');
    expect_errors(text.ptr, "dates");
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_three_kinds_become_one_calendar),
        TEST(an_empty_document_is_an_empty_calendar),
        TEST(every_problem_is_reported_where_it_is),
        TEST(entries_over_the_limit_are_refused_once),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
