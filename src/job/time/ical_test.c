#include "base/date.h"
#include "base/when.h"
#include "job/time/ical.h"
#include "job/time/tzif_test.h"

#include <string.h>

static struct arena arena;
static struct zone *berlin;
static struct zone *new_york;
static struct ical_facts facts;

static int start(void **state)
{
    (void)state;
    arena_reset(&arena);
    return 0;
}

static const struct zone *find_zone(void *arg, struct str name)
{
    (void)arg;
    return str_eq(name, STR("Europe/Berlin"))      ? berlin
           : str_eq(name, STR("America/New_York")) ? new_york
                                                   : NULL;
}

static const struct ical_zones zones = {.find = find_zone};

static enum rc read_file(const char *text, struct calendar *ret_calendar, struct err *err)
{
    struct calendar_draft draft = {.arena = &arena};
    TRY(ical_read(str_c(text), &zones, &draft, &facts, err));
    *ret_calendar = calendar_make(&draft);
    return RC_OK;
}

static struct calendar file(const char *text)
{
    struct calendar calendar = {0};
    struct err err = {0};
    if (read_file(text, &calendar, &err))
        fail_msg("%s", err.text);
    return calendar;
}

/* A calendar of one event, which has these lines. */
static const char *with_event(const char *lines)
{
    return arena_printf(&arena,
                        "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:1\n%s\nEND:VEVENT\n"
                        "END:VCALENDAR\n",
                        lines)
        .ptr;
}

static struct calendar event(const char *lines)
{
    return file(with_event(lines));
}

/* The lines of the event begin with line 5. */
static void expect_refusal(const char *text, const char *first, const char *second)
{
    struct calendar calendar;
    struct err err = {0};
    if (read_file(text, &calendar, &err) != RC_INVALID)
        fail_msg("not refused: %s", text);
    if (strstr(err.text, first) == NULL || strstr(err.text, second) == NULL)
        fail_msg("'%s' does not say '%s' and '%s'", err.text, first, second);
}

static int64_t at(const char *text)
{
    int64_t ms;
    assert_int_equal(when_parse(str_c(text), &ms, NULL), RC_OK);
    return ms / 1000;
}

/* Asked in Berlin. */
static void expect_free(const struct calendar *calendar, const char *when)
{
    int64_t until_s;
    if (calendar_covers(calendar, berlin, at(when), &until_s))
        fail_msg("%s is not free", when);
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

TEST(a_date_is_a_whole_day, start)
{
    struct calendar calendar = event("DTSTART;VALUE=DATE:20261225");
    expect_free(&calendar, "2026-12-24T23:59:59+01:00");
    expect_covered(&calendar, "2026-12-25T00:00:00+01:00", "2026-12-26T00:00:00+01:00");
    calendar = event("DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227");
    expect_covered(&calendar, "2026-12-25T00:00:00+01:00", "2026-12-27T00:00:00+01:00");
    assert_int_equal(facts.event_count, 1);
}

TEST(a_time_is_in_utc_in_its_zone_or_in_the_readers, start)
{
    struct calendar calendar = event("DTSTART:20261120T220000Z\nDTEND:20261121T040000Z");
    expect_covered(&calendar, "2026-11-20T22:00:00Z", "2026-11-21T04:00:00Z");
    calendar = event("DTSTART;TZID=America/New_York:20261120T220000\nDURATION:PT6H");
    expect_covered(&calendar, "2026-11-20T22:00:00-05:00", "2026-11-21T04:00:00-05:00");
    calendar = event("DTSTART:20261120T220000\nDURATION:P1DT30M15S");
    expect_covered(&calendar, "2026-11-20T22:00:00+01:00", "2026-11-21T22:30:15+01:00");
    calendar = event("DTSTART;TZID=\"Europe/Berlin\":20261120T220000\n"
                     "DTEND;TZID=America/New_York:20261120T220000");
    expect_covered(&calendar, "2026-11-20T22:00:00+01:00", "2026-11-20T22:00:00-05:00");
}

TEST(what_takes_no_time_or_was_cancelled_is_passed_over, start)
{
    struct calendar calendar = event("DTSTART:20261120T220000Z");
    expect_free(&calendar, "2026-11-20T22:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20261120\nSTATUS:CANCELLED");
    expect_free(&calendar, "2026-11-20T12:00:00Z");
    assert_int_equal(facts.event_count, 0);
}

TEST(lines_are_unfolded_wherever_they_were_folded, start)
{
    struct calendar calendar = file("BEGIN:VCALENDAR\r\nX-WR-CALNAME:Holidays\\, all\r\n"
                                    "  of them\\n\\\\o/\r\nX-WR-TIMEZONE:Europe/Berlin\r\n"
                                    "BEGIN:VEV\r\n ENT\r\nDTSTA\r\n\tRT;VALUE=DA\r\n TE:2026\r\n"
                                    " 1225\r\nEND:VEVENT\r\nEND:VCALENDAR");
    expect_covered(&calendar, "2026-12-25T00:00:00+01:00", "2026-12-26T00:00:00+01:00");
    assert_true(str_eq(facts.name, STR("Holidays, all of them\n\\o/")));
    assert_true(str_eq(facts.timezone, STR("Europe/Berlin")));
}

TEST(what_else_is_in_a_file_does_no_harm, start)
{
    struct calendar calendar =
        file("BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:X\nBEGIN:STANDARD\nDTSTART:19701025T030000\n"
             "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\nEND:VTIMEZONE\n"
             "BEGIN:VTODO\nDTSTART:20260101T000000Z\nDURATION:P1D\nEND:VTODO\n"
             "BEGIN:VEVENT\nSUMMARY;X=\"a:b;c\":DTSTART:no\nDTSTART;VALUE=DATE:20261225\n"
             "BEGIN:VALARM\nDURATION:P9D\nTRIGGER:-PT15M\nEND:VALARM\nTRANSP:TRANSPARENT\n"
             "END:VEVENT\nEND:VCALENDAR\n\nBEGIN:VCALENDAR\nEND:VCALENDAR\n");
    expect_covered(&calendar, "2026-12-25T00:00:00+01:00", "2026-12-26T00:00:00+01:00");
    expect_free(&calendar, "2026-01-01T12:00:00Z");
}

/* ---- rules */

TEST(yearly_is_on_a_date_or_on_the_nth_weekday, start)
{
    struct calendar calendar = event("DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY");
    expect_covered(&calendar, "2035-12-25T12:00:00Z", "2035-12-26T00:00:00+01:00");
    expect_free(&calendar, "2019-12-25T12:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20201126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH");
    expect_covered(&calendar, "2026-11-26T12:00:00Z", "2026-11-27T00:00:00+01:00");
    expect_free(&calendar, "2027-11-26T12:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20200525\nRRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO");
    expect_covered(&calendar, "2026-05-25T12:00:00Z", "2026-05-26T00:00:00+02:00");
    calendar = event("DTSTART;VALUE=DATE:20200229\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29");
    expect_covered(&calendar, "2024-02-29T12:00:00Z", "2024-03-01T00:00:00+01:00");
    expect_free(&calendar, "2025-03-01T12:00:00Z");
}

TEST(weekly_is_on_the_days_that_were_chosen, start)
{
    struct calendar calendar = event("DTSTART;TZID=Europe/Berlin:20261102T220000\nDURATION:PT2H\n"
                                     "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE");
    expect_covered(&calendar, "2026-11-04T22:00:00+01:00", "2026-11-05T00:00:00+01:00");
    expect_free(&calendar, "2026-11-09T22:30:00+01:00");
    expect_covered(&calendar, "2026-11-16T23:59:59+01:00", "2026-11-17T00:00:00+01:00");
    expect_covered(&calendar, "2027-06-14T22:00:00+02:00", "2027-06-15T00:00:00+02:00");
    calendar = event("DTSTART;VALUE=DATE:20261102\nRRULE:FREQ=DAILY;BYDAY=MO,TU");
    expect_covered(&calendar, "2026-11-09T12:00:00Z", "2026-11-11T00:00:00+01:00");
    expect_free(&calendar, "2026-11-11T12:00:00Z");
}

TEST(count_and_until_end_a_rule, start)
{
    struct calendar calendar = event("DTSTART:20261101T220000Z\nDURATION:PT1H\n"
                                     "RRULE:FREQ=DAILY;COUNT=3");
    expect_covered(&calendar, "2026-11-03T22:30:00Z", "2026-11-03T23:00:00Z");
    expect_free(&calendar, "2026-11-04T22:30:00Z");
    calendar = event("DTSTART;VALUE=DATE:20261101\nRRULE:FREQ=DAILY;INTERVAL=2;UNTIL=20261105");
    expect_covered(&calendar, "2026-11-05T12:00:00Z", "2026-11-06T00:00:00+01:00");
    expect_free(&calendar, "2026-11-07T12:00:00Z");
    calendar = event("DTSTART;TZID=America/New_York:20261101T220000\nDURATION:PT1H\n"
                     "RRULE:FREQ=DAILY;UNTIL=20261104T030000Z");
    expect_covered(&calendar, "2026-11-04T03:00:00Z", "2026-11-04T04:00:00Z");
    expect_free(&calendar, "2026-11-05T03:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20261101\nRRULE:FREQ=DAILY;UNTIL=20261001");
    expect_free(&calendar, "2026-11-02T12:00:00Z");
}

TEST(the_first_one_counts_also_when_the_rule_would_not_have_it, start)
{
    struct calendar calendar =
        event("DTSTART;VALUE=DATE:20261103\nRRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=2"); /* a Tuesday */
    expect_covered(&calendar, "2026-11-03T12:00:00Z", "2026-11-04T00:00:00+01:00");
    expect_covered(&calendar, "2026-11-09T12:00:00Z", "2026-11-10T00:00:00+01:00");
    expect_free(&calendar, "2026-11-16T12:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20261103\nRRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=1");
    expect_free(&calendar, "2026-11-09T12:00:00Z");
}

TEST(monthly_is_on_a_date_or_on_the_nth_weekday, start)
{
    struct calendar calendar = event("DTSTART;VALUE=DATE:20260131\nRRULE:FREQ=MONTHLY");
    expect_covered(&calendar, "2026-03-31T12:00:00Z", "2026-04-01T00:00:00+02:00");
    expect_free(&calendar, "2026-02-28T12:00:00Z"); /* a month without a 31st has none */
    expect_free(&calendar, "2026-04-30T12:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20260131\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1");
    expect_covered(&calendar, "2026-02-28T12:00:00Z", "2026-03-01T00:00:00+01:00");
    calendar = event("DTSTART;VALUE=DATE:20260114\nRRULE:FREQ=MONTHLY;INTERVAL=3;BYDAY=2WE,-1FR");
    expect_covered(&calendar, "2026-04-08T12:00:00Z", "2026-04-09T00:00:00+02:00");
    expect_covered(&calendar, "2026-04-24T12:00:00Z", "2026-04-25T00:00:00+02:00");
    expect_free(&calendar, "2026-03-11T12:00:00Z");
}

TEST(the_last_working_day_of_a_month_is_a_position, start)
{
    struct calendar calendar =
        event("DTSTART;VALUE=DATE:20260130\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1");
    expect_covered(&calendar, "2026-05-29T12:00:00Z", "2026-05-30T00:00:00+02:00");
    expect_free(&calendar, "2026-05-31T12:00:00Z");
    expect_covered(&calendar, "2026-06-30T12:00:00Z", "2026-07-01T00:00:00+02:00");
}

TEST(lists_of_months_restrict_every_rule, start)
{
    struct calendar calendar =
        event("DTSTART;VALUE=DATE:20260105\nRRULE:FREQ=WEEKLY;BYDAY=MO;BYMONTH=1,7");
    expect_covered(&calendar, "2026-07-06T12:00:00Z", "2026-07-07T00:00:00+02:00");
    expect_free(&calendar, "2026-06-29T12:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20260301\nRRULE:FREQ=YEARLY;BYMONTH=3,6,9,12");
    expect_covered(&calendar, "2027-09-01T12:00:00Z", "2027-09-02T00:00:00+02:00");
    expect_free(&calendar, "2027-10-01T12:00:00Z");
    calendar = event("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=DAILY;INTERVAL=2;BYDAY=MO;BYMONTH=2");
    expect_covered(&calendar, "2026-02-02T12:00:00Z", "2026-02-03T00:00:00+01:00");
    expect_free(&calendar, "2026-02-09T12:00:00Z");
}

TEST(a_rule_may_repeat_what_dtstart_says, start)
{
    struct calendar calendar = event("DTSTART:20261101T220500Z\nDURATION:PT1H\n"
                                     "RRULE:FREQ=DAILY;BYHOUR=22;BYMINUTE=5;BYSECOND=0;");
    expect_covered(&calendar, "2026-11-07T22:05:00Z", "2026-11-07T23:05:00Z");
}

/* ---- exceptions, further dates, and occurrences that were moved */

TEST(an_exception_is_an_occurrence_that_does_not_come, start)
{
    struct calendar calendar = event(
        "DTSTART;TZID=Europe/Berlin:20261101T220000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=5\n"
        "EXDATE;TZID=Europe/Berlin:20261102T220000,20261109T220000\n"
        "EXDATE:20261103T210000Z"); /* the same, in UTC */
    expect_covered(&calendar, "2026-11-01T22:00:00+01:00", "2026-11-01T23:00:00+01:00");
    expect_free(&calendar, "2026-11-02T22:30:00+01:00");
    expect_free(&calendar, "2026-11-03T22:30:00+01:00");
    expect_covered(&calendar, "2026-11-05T22:00:00+01:00", "2026-11-05T23:00:00+01:00");
    expect_free(&calendar, "2026-11-06T22:30:00+01:00"); /* exceptions count as well */
}

TEST(an_exception_is_met_whatever_clock_it_was_written_by, start)
{
    static const char *const exceptions[] = {
        "EXDATE;TZID=Europe/Berlin:20270607T220000", "EXDATE;TZID=America/New_York:20270607T160000",
        "EXDATE:20270607T200000Z", "EXDATE:20270607T220000", "EXDATE;VALUE=DATE:20270607"};
    for (size_t i = 0; i < COUNT_OF(exceptions); i++) {
        struct calendar calendar =
            event(arena_printf(&arena,
                               "DTSTART;TZID=Europe/Berlin:20261102T220000\nDURATION:PT1H\n"
                               "RRULE:FREQ=WEEKLY\n%s",
                               exceptions[i])
                      .ptr); /* the first in winter, the exception in summer */
        expect_covered(&calendar, "2027-05-31T22:30:00+02:00", "2027-05-31T23:00:00+02:00");
        expect_free(&calendar, "2027-06-07T22:30:00+02:00");
        expect_covered(&calendar, "2027-06-14T22:30:00+02:00", "2027-06-14T23:00:00+02:00");
    }
    struct calendar calendar = event("DTSTART;VALUE=DATE:20261102\nRRULE:FREQ=WEEKLY\n"
                                     "EXDATE:20261109T000000");
    expect_free(&calendar, "2026-11-09T12:00:00Z");
}

TEST(an_occurrence_that_lasts_into_an_excepted_one_still_lasts, start)
{
    struct calendar calendar = event("DTSTART:20261101T200000Z\nDURATION:PT30H\n"
                                     "RRULE:FREQ=DAILY;COUNT=2\nEXDATE:20261102T200000Z");
    expect_covered(&calendar, "2026-11-02T21:00:00Z", "2026-11-03T02:00:00Z");
}

TEST(an_exception_may_be_the_first_or_a_further_date, start)
{
    struct calendar calendar = event("DTSTART;VALUE=DATE:20261103\nRRULE:FREQ=WEEKLY;BYDAY=MO\n"
                                     "RDATE;VALUE=DATE:20261106,20261107\n"
                                     "EXDATE;VALUE=DATE:20261103,20261106");
    expect_free(&calendar, "2026-11-03T12:00:00Z");
    expect_free(&calendar, "2026-11-06T12:00:00Z");
    expect_covered(&calendar, "2026-11-07T12:00:00Z", "2026-11-08T00:00:00+01:00");
    expect_covered(&calendar, "2026-11-09T12:00:00Z", "2026-11-10T00:00:00+01:00");
}

TEST(further_dates_last_as_long_as_the_event_or_as_they_say, start)
{
    struct calendar calendar = event(
        "DTSTART;TZID=Europe/Berlin:20261101T220000\nDTEND;TZID=Europe/Berlin:20261101T233000\n"
        "RDATE:20270601T080000Z\nRDATE;TZID=America/New_York:20270602T080000\n"
        "RDATE;VALUE=PERIOD:20270603T080000Z/PT5H,20270604T080000Z/20270604T090000Z");
    expect_covered(&calendar, "2026-11-01T22:00:00+01:00", "2026-11-01T23:30:00+01:00");
    expect_covered(&calendar, "2027-06-01T08:00:00Z", "2027-06-01T09:30:00Z");
    expect_covered(&calendar, "2027-06-02T08:00:00-04:00", "2027-06-02T09:30:00-04:00");
    expect_covered(&calendar, "2027-06-03T08:00:00Z", "2027-06-03T13:00:00Z");
    expect_covered(&calendar, "2027-06-04T08:00:00Z", "2027-06-04T09:00:00Z");
}

#define MONDAYS                                                                                    \
    "BEGIN:VEVENT\nUID:a\nDTSTART;TZID=Europe/Berlin:20261102T100000\nDURATION:PT1H\n"             \
    "RRULE:FREQ=WEEKLY;COUNT=4\nEND:VEVENT\n"

/* Weekly on Mondays from 10 to 11, four times, and another event of the same UID with these lines; which
 * of them comes first makes no difference. */
static struct calendar moved(const char *lines, bool first)
{
    const char *other = arena_printf(&arena, "BEGIN:VEVENT\nUID:a\n%s\nEND:VEVENT\n", lines).ptr;
    return file(arena_printf(&arena, "BEGIN:VCALENDAR\n%s%s%sEND:VCALENDAR\n", first ? other : "",
                             MONDAYS, first ? "" : other)
                    .ptr);
}

TEST(an_occurrence_that_was_moved_is_there_and_not_here, start)
{
    for (int first = 0; first < 2; first++) {
        struct calendar calendar = moved("RECURRENCE-ID;TZID=Europe/Berlin:20261109T100000\n"
                                         "DTSTART:20280101T120000Z\nDURATION:PT2H",
                                         first);
        expect_covered(&calendar, "2026-11-02T10:30:00+01:00", "2026-11-02T11:00:00+01:00");
        expect_free(&calendar, "2026-11-09T10:30:00+01:00");
        expect_covered(&calendar, "2026-11-16T10:30:00+01:00", "2026-11-16T11:00:00+01:00");
        expect_covered(&calendar, "2028-01-01T12:00:00Z",
                       "2028-01-01T14:00:00Z");              /* behind its end */
        expect_free(&calendar, "2026-11-30T10:30:00+01:00"); /* it still counts as one of four */
        assert_int_equal(facts.event_count, 2);
    }
}

TEST(an_occurrence_may_move_onto_another_or_by_an_hour, start)
{
    struct calendar calendar =
        moved("RECURRENCE-ID:20261109T090000Z\nDTSTART;TZID=Europe/Berlin:20261109T103000\n"
              "DURATION:PT1H",
              true);
    expect_free(&calendar, "2026-11-09T10:15:00+01:00");
    expect_covered(&calendar, "2026-11-09T10:45:00+01:00", "2026-11-09T11:30:00+01:00");
    calendar =
        moved("RECURRENCE-ID;VALUE=DATE:20261109\nDTSTART:20261116T090000Z\nDURATION:PT1H", true);
    expect_free(&calendar, "2026-11-09T10:15:00+01:00");
    expect_covered(&calendar, "2026-11-16T10:15:00+01:00", "2026-11-16T11:00:00+01:00");
}

TEST(a_cancelled_occurrence_is_an_exception, start)
{
    struct calendar calendar = moved("RECURRENCE-ID;TZID=Europe/Berlin:20261102T100000\n"
                                     "DTSTART:rubbish\nSTATUS:CANCELLED",
                                     true);
    expect_free(&calendar, "2026-11-02T10:30:00+01:00");
    expect_covered(&calendar, "2026-11-09T10:30:00+01:00", "2026-11-09T11:00:00+01:00");
    assert_int_equal(facts.warning_count, 0);
}

TEST(an_occurrence_whose_place_is_not_understood_stays, start)
{
    struct calendar calendar =
        moved("RECURRENCE-ID;TZID=Europe/Berlin:20261109T100000\nDTSTART:20281301", true);
    expect_covered(&calendar, "2026-11-09T10:30:00+01:00", "2026-11-09T11:00:00+01:00");
    assert_int_equal(facts.warning_count, 1);
    calendar = moved("RECURRENCE-ID;RANGE=THISANDFUTURE:20261109T090000Z\n"
                     "DTSTART:20261109T120000Z\nDURATION:PT1H",
                     false);
    expect_covered(&calendar, "2026-11-09T10:30:00+01:00", "2026-11-09T11:00:00+01:00");
    expect_free(&calendar, "2026-11-09T12:30:00Z");
    assert_int_equal(facts.warning_count, 1);
}

TEST(a_moved_occurrence_of_nothing_is_an_event, start)
{
    struct calendar calendar = event("RECURRENCE-ID:20261109T090000Z\nDTSTART:20261109T120000Z\n"
                                     "DURATION:PT1H"); /* as an invitation to a single one */
    expect_covered(&calendar, "2026-11-09T12:30:00Z", "2026-11-09T13:00:00Z");
}

/* ---- where clocks are changed: in Berlin on 2026-03-29 and 2026-10-25 */

TEST(a_rule_goes_by_the_clock_on_the_wall, start)
{
    struct calendar calendar = event("DTSTART;TZID=Europe/Berlin:20260327T023000\nDURATION:PT1H\n"
                                     "RRULE:FREQ=DAILY");
    expect_covered(&calendar, "2026-03-28T02:30:00+01:00", "2026-03-28T03:30:00+01:00");
    expect_covered(&calendar, "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00");
    expect_free(&calendar, "2026-03-29T01:59:59+01:00");
    expect_covered(&calendar, "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00");
    expect_covered(&calendar, "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00");
}

TEST(an_until_in_utc_is_turned_into_the_time_of_its_season, start)
{
    struct calendar calendar = event("DTSTART;TZID=Europe/Berlin:20260327T100000\nDURATION:PT1H\n"
                                     "RRULE:FREQ=DAILY;UNTIL=20260330T080000Z");
    expect_covered(&calendar, "2026-03-30T10:30:00+02:00", "2026-03-30T11:00:00+02:00");
    expect_free(&calendar, "2026-03-31T10:30:00+02:00");
    calendar = event("DTSTART;TZID=Europe/Berlin:20260327T100000\nDURATION:PT1H\n"
                     "RRULE:FREQ=DAILY;UNTIL=20260330T075959Z");
    expect_free(&calendar, "2026-03-30T10:30:00+02:00");
}

/* ---- warnings */

#define BAD "BEGIN:VEVENT\nUID:bad@x\nSUMMARY:Team\\, all of it\nDTSTART:20261301\nEND:VEVENT\n"
#define GOOD "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20261225\nEND:VEVENT\n"

TEST(a_bad_event_is_left_out_and_named, start)
{
    struct calendar calendar = file("BEGIN:VCALENDAR\n" GOOD BAD GOOD "END:VCALENDAR\n");
    expect_covered(&calendar, "2026-12-25T12:00:00Z", "2026-12-26T00:00:00+01:00");
    assert_int_equal(facts.event_count, 2);
    assert_int_equal(facts.warning_count, 1);
    assert_int_equal(facts.warnings.len, 1);
    const struct ical_warning *warning = &facts.warnings.items[0];
    assert_int_equal(warning->line, 5);
    assert_true(str_eq(warning->uid, STR("bad@x")));
    assert_true(str_eq(warning->summary, STR("Team, all of it")));
    assert_non_null(strstr(warning->message.ptr, "line 8: DTSTART must be a time"));
}

TEST(a_bad_event_is_left_out_as_a_whole, start)
{
    struct calendar calendar =
        file("BEGIN:VCALENDAR\n" GOOD "BEGIN:VEVENT\nDTSTART:20261101T100000Z\nDURATION:PT1H\n"
             "RDATE:20261102T100000Z\nRRULE:FREQ=DAILY\nEXDATE:never\n"
             "END:VEVENT\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261110\n"
             "no colon\nEND:VEVENT\nEND:VCALENDAR\n");
    expect_free(&calendar, "2026-11-01T10:30:00Z");
    expect_free(&calendar, "2026-11-02T10:30:00Z");
    expect_free(&calendar, "2026-11-10T10:30:00Z");
    assert_int_equal(facts.event_count, 1);
    assert_int_equal(facts.warning_count, 2);
    assert_int_equal(calendar.rule_count, 0);
}

TEST(many_warnings_are_counted_and_the_first_are_kept, start)
{
    CLEANUP(buf_free) struct buf text = BUF(ICAL_BYTES_MAX);
    buf_add(&text, STR("BEGIN:VCALENDAR\n" GOOD));
    for (int i = 0; i < 2 * ICAL_WARNINGS_MAX; i++)
        buf_add(&text, STR(BAD));
    buf_printf(&text, "END:VCALENDAR\n%c", '\0');
    (void)file(text.ptr);
    assert_int_equal(facts.warning_count, 2 * ICAL_WARNINGS_MAX);
    assert_int_equal(facts.warnings.len, ICAL_WARNINGS_MAX);
}

/* ---- refusals */

TEST(rules_that_are_not_understood_are_refused_with_their_line, start)
{
    static const char *const rules[][2] = {
        {"FREQ=HOURLY", "FREQ"},
        {"INTERVAL=2", "FREQ is missing"},
        {"FREQ=DAILY;INTERVAL=0", "INTERVAL"},
        {"FREQ=DAILY;COUNT=0", "COUNT"},
        {"FREQ=DAILY;COUNT=2;UNTIL=20270101", "exclude"},
        {"FREQ=DAILY;UNTIL=tomorrow", "UNTIL"},
        {"FREQ=WEEKLY;BYDAY=XX", "BYDAY"},
        {"FREQ=WEEKLY;BYDAY=2MO", "YEARLY only"},
        {"FREQ=MONTHLY;BYDAY=54MO", "BYDAY"},
        {"FREQ=MONTHLY;BYDAY=0MO", "BYDAY"},
        {"FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY"},
        {"FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY"},
        {"FREQ=MONTHLY;BYMONTHDAY=1,,2", "BYMONTHDAY"},
        {"FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY"},
        {"FREQ=YEARLY;BYMONTH=13", "BYMONTH"},
        {"FREQ=YEARLY;BYMONTH=", "BYMONTH"},
        {"FREQ=YEARLY;BYSETPOS=1", "BYSETPOS"},
        {"FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367", "BYSETPOS"},
        {"FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1", "BYSETPOS"},
        {"FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO"},
        {"FREQ=YEARLY;BYYEARDAY=100", "BYYEARDAY"},
        {"FREQ=DAILY;BYHOUR=9", "BYHOUR"},
        {"FREQ=DAILY;FREQ=DAILY", "twice"},
        {"FREQ=DAILY;INTERVAL=10001", "INTERVAL"},
        {"FREQ=DAILY;COUNT=99999999999999999999", "COUNT"},
        {"", "FREQ is missing"},
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        struct str lines =
            arena_printf(&arena, "DTSTART;VALUE=DATE:20261225\nRRULE:%s", rules[i][0]);
        expect_refusal(with_event(lines.ptr), "line 6: RRULE", rules[i][1]);
    }
}

TEST(events_that_make_no_sense_are_refused_with_their_line, start)
{
    static const char *const events[][3] = {
        {"SUMMARY:x", "line 3", "DTSTART"},
        {"DTSTART:20261325", "line 5", "DTSTART"},
        {"DTSTART:20261225T250000", "line 5", "DTSTART"},
        {"DTSTART;TZID=Mars/Olympus:20261225T000000", "line 5", "Mars/Olympus"},
        {"DTSTART:20261225\nDTSTART:20261226", "line 6", "twice"},
        {"DTSTART:20261225\nDTEND:20261224", "line 3", "before"},
        {"DTSTART:20261225\nDTEND:20261226T000000Z", "line 6", "kind"},
        {"DTSTART:20261225T000000\nDTEND:20261226T000000Z", "line 6", "kind"},
        {"DTSTART:20261225\nDURATION:-P1D", "line 6", "DURATION"},
        {"DTSTART:20261225\nDURATION:P", "line 6", "DURATION"},
        {"DTSTART:20261225\nDURATION:P1H", "line 6", "DURATION"},
        {"DTSTART:20261225\nDURATION:PT1M1H", "line 6", "DURATION"},
        {"DTSTART:20261225\nDURATION:P99999999W", "line 6", "DURATION"},
        {"DTSTART:20261225\nDTEND:20261226\nDURATION:P1D", "line 6", "exclude"},
        {"DTSTART:20261225\nEXDATE:2027", "line 6", "EXDATE"},
        {"DTSTART:20261225\nEXDATE:20271225,", "line 6", "EXDATE"},
        {"DTSTART:20261225T120000\nDURATION:PT1H\nEXDATE:20271225T120000Z", "line 7", "kind"},
        {"DTSTART:20261225\nRDATE:tomorrow", "line 6", "RDATE"},
        {"DTSTART:20261225T120000Z\nRDATE:20271225T120000Z/20271225T110000Z", "line 6", "before"},
        {"DTSTART:20261225\nEXRULE:FREQ=DAILY", "line 6", "EXRULE"},
        {"DTSTART:20261225\nRECURRENCE-ID:soon", "line 6", "RECURRENCE-ID"},
        {"DTSTART:20261225\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261225", "line 6", "RANGE"},
        {"DTSTART:20251225\nDTEND:20270101\nRRULE:FREQ=YEARLY", "line 7", "366 days"},
        {"DTSTART:20261225\nno colon", "line 6", "NAME:VALUE"},
    };
    for (size_t i = 0; i < COUNT_OF(events); i++)
        expect_refusal(with_event(events[i][0]), events[i][1], events[i][2]);
}

TEST(files_that_are_none_are_refused, start)
{
    expect_refusal("", "BEGIN:VCALENDAR", "missing");
    expect_refusal("hello: world", "line 1", "BEGIN:VCALENDAR");
    expect_refusal("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\n", "line", "ends before");
    expect_refusal("BEGIN:VCALENDAR\nBEGIN:X\n", "line", "ends before");
    expect_refusal("BEGIN:VCALENDAR\nEND:VCALENDAR\nrubbish", "line 3", "NAME:VALUE");
}

TEST(too_much_is_refused, start)
{
    CLEANUP(buf_free) struct buf text = BUF(ICAL_BYTES_MAX + 1);
    struct calendar calendar;
    struct err err;
    buf_add(&text, STR("BEGIN:VCALENDAR\n"));
    for (int i = 0; i <= CALENDAR_ENTRIES_MAX; i++)
        buf_add(&text, STR("BEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\n"));
    buf_printf(&text, "END:VCALENDAR\n%c", '\0');
    assert_int_equal(read_file(text.ptr, &calendar, &err), RC_TOO_LARGE);
    while (!text.overflow)
        buf_add_char(&text, '\n');
    struct calendar_draft draft = {.arena = &arena};
    assert_int_equal(ical_read(buf_str(&text), &zones, &draft, &facts, &err), RC_TOO_LARGE);
}

static int begin(void **state)
{
    (void)state;
    berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    new_york = tzif_zone("EST5EDT,M3.2.0,M11.1.0");
    return 0;
}

static int end(void **state)
{
    (void)state;
    zone_free(berlin);
    zone_free(new_york);
    arena_free(&arena);
    return 0;
}

TEST_GROUP(begin, end)
