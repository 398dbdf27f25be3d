/* Files as other programs write them (tests/fuzz/corpus/ical), by the zones of this system: the months
 * that they cover, minute by minute. */
#include "base/when.h"
#include "job/time/ical.h"
#include "system_zones.h"

#include <string.h>

enum { MINUTE_S = 60 };

static struct zones *zones;
static struct arena arena;
static struct ical_facts facts;

static const struct zone *find_zone(void *arg, struct str name)
{
    const struct zone *zone;
    (void)arg;
    return zones_find(zones, name, &zone, NULL) == RC_OK ? zone : NULL;
}

static struct calendar read_file(const char *name)
{
    const struct ical_zones finder = {.find = find_zone};
    struct calendar_draft draft = {.arena = &arena};
    struct str path = arena_printf(&arena, "tests/fuzz/corpus/ical/%s", name);
    struct str text;
    struct err err = {0};
    if (file_read(path.ptr, ICAL_BYTES_MAX, &arena, &text, &err) ||
        ical_read(text, &finder, &draft, &facts, &err))
        fail_msg("%s", err.text);
    return calendar_make(&draft);
}

static int64_t at(const char *text)
{
    int64_t ms;
    assert_int_equal(when_parse(str_c(text), &ms, NULL), RC_OK);
    return ms / 1000;
}

/* From one time to another the calendar covers these spans, "from to" each, and nothing else. The asking
 * zone is that of floating times. */
static void expect_spans(const struct calendar *calendar, const char *zone, const char *from,
                         const char *to, const char *const *spans)
{
    const struct zone *own = find_zone(NULL, str_c(zone));
    int64_t end_s = at(to);
    int64_t until_s;
    for (int64_t t = at(from); t < end_s; t += MINUTE_S) {
        char begin[WHEN_TEXT_MAX];
        char end[WHEN_TEXT_MAX];
        if (!calendar_covers(calendar, own, t, &until_s))
            continue;
        struct str found = arena_printf(&arena, "%.16s %.16s", when_format(begin, t * 1000).ptr,
                                        when_format(end, until_s * 1000).ptr);
        if (*spans == NULL || !str_eq(found, str_c(*spans)))
            fail_msg("'%s' instead of '%s'", found.ptr, *spans == NULL ? "nothing" : *spans);
        spans++;
        t = until_s - MINUTE_S;
    }
    if (*spans != NULL)
        fail_msg("'%s' is missing", *spans);
}

#define SPANS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Mondays at 9:00 to the end of February; one does not come, one was moved to the afternoon after. */
TEST(google_writes_exceptions_and_moved_occurrences)
{
    struct calendar calendar = read_file("google");
    assert_int_equal(facts.warning_count, 0);
    expect_spans(&calendar, "UTC", "2030-01-01T00:00:00Z", "2030-04-01T00:00:00Z",
                 SPANS("2030-01-07T08:00 2030-01-07T10:00", "2030-01-14T08:00 2030-01-14T10:00",
                       "2030-01-29T13:00 2030-01-29T14:00", "2030-02-04T08:00 2030-02-04T10:00",
                       "2030-02-11T08:00 2030-02-11T10:00", "2030-02-18T08:00 2030-02-18T10:00",
                       "2030-02-25T08:00 2030-02-25T10:00"));
}

/* The last working day of each month in California, whose clocks change on 2030-03-10, and two days in a
 * zone that nothing but the file knows: half past five ahead of UTC. */
TEST(outlook_writes_windows_names_and_zones_of_its_own)
{
    struct calendar calendar = read_file("outlook");
    assert_int_equal(facts.warning_count, 0);
    expect_spans(&calendar, "UTC", "2030-01-01T00:00:00Z", "2030-07-10T00:00:00Z",
                 SPANS("2030-02-01T01:00 2030-02-01T02:00", "2030-03-01T01:00 2030-03-01T02:00",
                       "2030-03-30T00:00 2030-03-30T01:00", "2030-05-01T00:00 2030-05-01T01:00",
                       "2030-06-01T00:00 2030-06-01T01:00", "2030-06-01T03:30 2030-06-01T04:30",
                       "2030-06-29T00:00 2030-06-29T01:00"));
    expect_spans(&calendar, "UTC", "2032-12-01T00:00:00Z", "2032-12-02T00:00:00Z",
                 SPANS("2032-12-01T01:00 2032-12-01T02:00", "2032-12-01T03:30 2032-12-01T04:30"));
}

/* A date that comes each year but one, by the clocks of whoever asks, and nights of maintenance. */
TEST(apple_writes_dates_and_further_dates)
{
    struct calendar calendar = read_file("apple");
    assert_int_equal(facts.warning_count, 1);
    assert_true(str_eq(facts.warnings.items[0].summary, STR("Check the oven")));
    assert_true(str_eq(facts.timezone, STR("America/New_York")));
    expect_spans(&calendar, "America/New_York", "2029-12-25T00:00:00Z", "2030-06-01T00:00:00Z",
                 SPANS("2030-01-01T05:00 2030-01-02T05:00", "2030-03-16T02:00 2030-03-16T06:00",
                       "2030-04-16T02:00 2030-04-16T06:00"));
    expect_spans(&calendar, "America/New_York", "2030-12-25T00:00:00Z", "2032-02-01T00:00:00Z",
                 SPANS("2032-01-01T05:00 2032-01-02T05:00"));
}

/* Windows' names lead to zones of this system, but for those that a smaller tzdata may not have. */
TEST(every_name_of_windows_is_that_of_a_zone)
{
    static const char *const names[] = {"Pacific Standard Time", "GMT Standard Time",   "UTC",
                                        "China Standard Time",   "Nepal Standard Time", "utc-11"};
    const struct ical_zones finder = {.find = find_zone};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_non_null(ical_zone_named(&finder, str_c(names[i])));
    assert_null(ical_zone_named(&finder, STR("Middle Earth Standard Time")));
}

static int begin(void **state)
{
    (void)state;
    zones = zones_new(SYSTEM_ZONES_DIR);
    return 0;
}

static int end(void **state)
{
    (void)state;
    zones_free(zones);
    arena_free(&arena);
    return 0;
}

TEST_GROUP(begin, end)
