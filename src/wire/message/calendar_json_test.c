#include "base/date.h"

#include "base/test/test.h"
#include "wire/message/calendar_json.h"

#include <string.h>

static struct arena arena;
static struct field_errors errors;
static struct ical_facts facts;

static int start(void **state)
{
    (void)state;
    arena_reset(&arena);
    errors = (struct field_errors){.count = 0};
    return 0;
}

static const struct zone *find_zone(void *arg, struct str name)
{
    (void)arg;
    return str_eq(name, STR("UTC")) ? zone_utc() : NULL;
}

static const struct ical_zones zones = {.find = find_zone};

static enum rc parse_almanac(const char *text, struct almanac *ret_almanac)
{
    struct json doc;
    struct err err;
    if (json_parse(str_c(text), &arena, &doc, &err))
        fail_msg("%s", err.text);
    return calendar_parse(&doc, &zones, &arena, ret_almanac, &facts, &errors);
}

static enum rc parse(const char *text, struct calendar *ret_calendar)
{
    struct almanac almanac = {0};
    enum rc rc = parse_almanac(text, &almanac);
    *ret_calendar = almanac.calendar;
    return rc;
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

TEST(all_three_kinds_become_one_calendar, start)
{
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

TEST(an_empty_document_is_an_empty_calendar, start)
{
    struct calendar calendar;
    int64_t until_s;
    assert_int_equal(parse("{\"dates\": []}", &calendar), RC_OK);
    assert_false(calendar_covers(&calendar, zone_utc(), 0, &until_s));
}

TEST(every_problem_is_reported_where_it_is, start)
{
    expect_errors("{\"dates\": [\"2026-12-25\", \"2026-02-29\", 7], \"weekly\": \"Sat\"}",
                  "dates[1] dates[2] weekly");
    expect_errors("{\"windows\": [{\"from\": \"2026-11-20T22:00\"}, 1,"
                  " {\"from\": \"2026-11-20T22:00\", \"to\": \"2026-11-20T21:00\"}]}",
                  "windows[0].to windows[1] windows[2]");
    expect_errors("{\"day\": []}", "day");
    expect_errors("[]", "");
}

TEST(entries_over_the_limit_are_refused_once, start)
{
    CLEANUP(buf_free) struct buf text = BUF(1 << 20);
    buf_add(&text, STR("{\"dates\": [\"2026-12-25\""));
    for (int i = 0; i < CALENDAR_ENTRIES_MAX; i++)
        buf_add(&text, STR(",\"2026-12-25\""));
    buf_printf(&text, "]}%c", '\0');
    expect_errors(text.ptr, "dates");
}

TEST(a_document_says_its_policy_and_its_zone, start)
{
    struct almanac almanac;
    assert_int_equal(parse_almanac("{}", &almanac), RC_OK);
    assert_int_equal(almanac.policy, CALENDAR_SKIP);
    assert_null(almanac.zone);
    assert_int_equal(almanac.entry_count, 0);
    assert_int_equal(parse_almanac("{\"policy\": \"hold\", \"timezone\": \"UTC\","
                                   " \"dates\": [\"2026-12-25\"], \"description\": \"x\"}",
                                   &almanac),
                     RC_OK);
    assert_int_equal(almanac.policy, CALENDAR_HOLD);
    assert_ptr_equal(almanac.zone, zone_utc());
    assert_int_equal(almanac.entry_count, 1);
    expect_errors("{\"policy\": \"wait\", \"timezone\": \"Mars/Base\"}", "policy timezone");
}

#define ICS(extra)                                                                                 \
    "BEGIN:VCALENDAR\\r\\n" extra "BEGIN:VEVENT\\r\\nDTSTART;VALUE=DATE:20261225\\r\\nEND:VEVENT"  \
    "\\r\\nEND:VCALENDAR\\r\\n"

TEST(an_ical_text_adds_its_events, start)
{
    struct almanac almanac;
    int64_t until_s;
    assert_int_equal(parse_almanac("{\"ical\": \"" ICS(
                                       "X-WR-TIMEZONE:UTC\\r\\n") "\","
                                                                  " \"dates\": [\"2026-12-26\"]}",
                                   &almanac),
                     RC_OK);
    assert_int_equal(almanac.entry_count, 2);
    assert_ptr_equal(almanac.zone, zone_utc());
    assert_true(calendar_covers(&almanac.calendar, zone_utc(), date_to_days(2026, 12, 25) * 86400,
                                &until_s));
    assert_int_equal(until_s, date_to_days(2026, 12, 27) * 86400);
    expect_errors("{\"ical\": \"" ICS("X-WR-TIMEZONE:Mars/Base\\r\\n") "\"}", "ical");
    expect_errors("{\"ical\": \"hello\"}", "ical");
}

TEST(a_calendar_is_shown_with_its_document_when_there_is_one, start)
{
    CLEANUP(buf_free) struct buf out = BUF(1 << 10);
    struct json_writer w = JSON_WRITER(&out);
    struct calendar_rec rec = {.name = STR("a"), .version = 2, .changed_by = STR("key:admin")};
    calendar_rec_print(&w, &rec, NULL);
    rec.document = STR("{\"dates\":[]}");
    calendar_rec_print(&w, &rec, NULL);
    struct str text = buf_str(&out);
    assert_non_null(memmem(text.ptr, text.len, "\"version\":2", 11));
    assert_non_null(memmem(text.ptr, text.len, "\"document\":{\"dates\":[]}", 23));
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST_GROUP(NULL, end)
