#include "base/date.h"

#include "job/time/ical_zone.h"
#include "job/time/tzif_test.h"

#include <string.h>

static struct arena arena;
static struct zone *berlin;

static int start(void **state)
{
    (void)state;
    arena_reset(&arena);
    return 0;
}

static const struct zone *find_zone(void *arg, struct str name)
{
    (void)arg;
    return str_eq(name, STR("Europe/Berlin")) ? berlin : NULL;
}

static const struct ical_zones zones = {.find = find_zone};

static struct ical_timezones timezones(void)
{
    return (struct ical_timezones){.system = &zones, .arena = &arena};
}

static struct ical_zone_found found(struct ical_timezones *all, const char *tzid)
{
    struct ical_zone_found found;
    struct err err = {0};
    if (ical_timezone_find(all, str_c(tzid), &found, &err) != RC_OK)
        fail_msg("%s", err.text);
    return found;
}

/* The lines behind BEGIN:VTIMEZONE. */
static struct ical_timezones defined(const char *lines)
{
    struct ical_timezones all = timezones();
    struct ical_source source = {.rest = str_c(lines), .line = 1, .arena = &arena};
    assert_int_equal(ical_timezone_read(&all, &source, NULL), RC_OK);
    return all;
}

#define OBSERVANCE(kind, start, from, to, more)                                                    \
    "BEGIN:" kind "\nDTSTART:" start "\nTZOFFSETFROM:" from "\nTZOFFSETTO:" to "\n" more           \
    "END:" kind "\n"

/* As Outlook writes it: since 1601. */
#define BERLIN_RULES                                                                               \
    OBSERVANCE("STANDARD", "16011028T030000", "+0200", "+0100",                                    \
               "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\n")                                        \
    OBSERVANCE("DAYLIGHT", "16010325T020000", "+0100", "+0200",                                    \
               "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\n")

TEST(a_zone_of_the_system_is_taken_by_each_of_its_names, start)
{
    struct ical_timezones all =
        defined("TZID:My Place\nX-LIC-LOCATION:Europe/Berlin\n" BERLIN_RULES "END:VTIMEZONE\n");
    static const char *const names[] = {"Europe/Berlin",
                                        "W. Europe Standard Time",
                                        "w. europe standard time",
                                        "/mozilla.org/20070129_1/Europe/Berlin",
                                        "/freeassociation.sourceforge.net/Tzfile/Europe/Berlin",
                                        "My Place"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct ical_zone_found zone = found(&all, names[i]);
        assert_ptr_equal(zone.zone, berlin);
        assert_false(zone.made);
    }
}

TEST(a_zone_of_the_system_weighs_more_than_the_file, start)
{
    struct ical_timezones all = defined("TZID:Europe/Berlin\n" OBSERVANCE(
        "STANDARD", "19700101T000000", "+0900", "+0900", "") "END:VTIMEZONE\n");
    assert_ptr_equal(found(&all, "Europe/Berlin").zone, berlin);
}

TEST(rules_make_the_zone_that_they_describe, start)
{
    struct ical_timezones all =
        defined("TZID:Customized Time Zone\n" BERLIN_RULES "END:VTIMEZONE\n");
    struct ical_zone_found made = found(&all, "Customized Time Zone");
    assert_true(made.made);
    for (int64_t day = date_to_days(1980, 1, 1); day < date_to_days(2500, 1, 1); day++) {
        int64_t hour_s = day % 24 * 3600; /* each hour of the day comes by */
        struct zone_span want = zone_span(berlin, day * 86400 + hour_s);
        struct zone_span is = zone_span(made.zone, day * 86400 + hour_s);
        assert_int_equal(is.offset_s, want.offset_s);
        assert_int_equal(is.begin_s, want.begin_s);
        assert_int_equal(is.end_s, want.end_s);
    }
    assert_int_equal(zone_span(made.zone, 0).offset_s, 3600); /* January 1970 */
    assert_ptr_equal(found(&all, "Customized Time Zone").zone, made.zone);
}

TEST(rules_may_change_with_the_years, start)
{
    struct ical_timezones all = defined(
        "TZID:East\n" OBSERVANCE("DAYLIGHT", "19870405T020000", "-0500", "-0400",
                                 "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z\n")
            OBSERVANCE("STANDARD", "19871025T020000", "-0400", "-0500",
                       "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z\n")
                OBSERVANCE("DAYLIGHT", "20070311T020000", "-0500", "-0400",
                           "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\n")
                    OBSERVANCE("STANDARD", "20071104T020000", "-0400", "-0500",
                               "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\n") "END:VTIMEZONE\n");
    const struct zone *zone = found(&all, "East").zone;
    static const struct {
        unsigned year;
        unsigned month;
        unsigned day;
        int hours;
    } noons[] = {{1980, 7, 1, -5},   {2000, 3, 20, -5}, {2000, 4, 10, -4}, {2006, 3, 20, -5},
                 {2006, 10, 28, -4}, {2006, 11, 1, -5}, {2007, 3, 20, -4}, {2007, 11, 1, -4},
                 {2007, 11, 5, -5},  {2450, 3, 20, -4}, {2450, 12, 1, -5}};
    for (size_t i = 0; i < COUNT_OF(noons); i++) {
        int64_t day = date_to_days(noons[i].year, noons[i].month, noons[i].day);
        assert_int_equal(zone_span(zone, day * 86400 + 61200).offset_s, noons[i].hours * 3600);
    }
}

TEST(a_zone_without_rules_stays_as_it_is, start)
{
    struct ical_timezones all = defined("TZID:Fixed\n" OBSERVANCE(
        "STANDARD", "19700101T000000", "+0545", "+0545", "") "END:VTIMEZONE\n");
    struct zone_span span = zone_span(found(&all, "Fixed").zone, 0);
    assert_int_equal(span.offset_s, 5 * 3600 + 45 * 60);
    assert_int_equal(span.end_s, ZONE_EVER_S);
    all = defined("TZID:Once\n" OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+0100", "")
                      OBSERVANCE("DAYLIGHT", "20200601T000000", "+0100", "+0200",
                                 "RDATE:20210601T000000,20220601T000000\n") "END:VTIMEZONE\n");
    const struct zone *once = found(&all, "Once").zone;
    assert_int_equal(zone_span(once, date_to_days(2020, 5, 1) * 86400).offset_s, 3600);
    assert_int_equal(zone_span(once, date_to_days(2300, 1, 1) * 86400).offset_s, 7200);
}

TEST(a_zone_that_makes_no_sense_says_why_when_it_is_needed, start)
{
    static const char *const zones_of[][2] = {
        {"", "neither STANDARD nor DAYLIGHT"},
        {OBSERVANCE("STANDARD", "19700101", "+0100", "+0100", ""), "DTSTART"},
        {OBSERVANCE("STANDARD", "19700101T000000", "0100", "+0100", ""), "TZOFFSETFROM"},
        {OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+9900", ""), "TZOFFSETTO"},
        {OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+0100", "RRULE:FREQ=HOURLY\n"),
         "RRULE"},
        {OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+0100", "RRULE:FREQ=DAILY\n"),
         "without an end"},
        {OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+0100",
                    "RRULE:FREQ=DAILY;COUNT=100000\n"),
         "too often"},
        {OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+0100", "RDATE:1\n"), "RDATE"},
        {OBSERVANCE("STANDARD", "19700101T000000", "+0100", "+0100", "rubbish\n"), "line"},
    };
    for (size_t i = 0; i < COUNT_OF(zones_of); i++) {
        struct ical_zone_found zone;
        struct err err = {0};
        struct ical_timezones all =
            defined(arena_printf(&arena, "TZID:Nowhere\n%sEND:VTIMEZONE\n", zones_of[i][0]).ptr);
        assert_int_equal(ical_timezone_find(&all, STR("Nowhere"), &zone, &err), RC_INVALID);
        if (strstr(err.text, zones_of[i][1]) == NULL || strstr(err.text, "'Nowhere'") == NULL)
            fail_msg("'%s' does not say '%s'", err.text, zones_of[i][1]);
    }
}

TEST(a_file_that_names_a_new_zone_in_each_line_is_stopped, start)
{
    struct ical_timezones all = timezones();
    struct ical_zone_found zone;
    struct err err;
    for (int i = 0; i <= ICAL_ZONES_MAX; i++)
        assert_int_equal(ical_timezone_find(&all, arena_printf(&arena, "zone %d", i), &zone, &err),
                         RC_INVALID);
    assert_non_null(strstr(err.text, "more than 500"));
    assert_int_equal(all.items.len, ICAL_ZONES_MAX);
}

TEST(a_made_zone_is_copied_with_its_calendar, start)
{
    struct ical_timezones all = defined("TZID:Own\n" BERLIN_RULES "END:VTIMEZONE\n");
    CLEANUP(arena_free) struct arena other = {0};
    const struct zone *copy = zone_copy(found(&all, "Own").zone, &other);
    arena_reset(&arena);
    memset(arena_bytes(&arena, 1 << 16), 0xff, 1 << 16);
    assert_int_equal(zone_span(copy, date_to_days(2026, 7, 1) * 86400).offset_s, 7200);
}

static int begin(void **state)
{
    (void)state;
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
