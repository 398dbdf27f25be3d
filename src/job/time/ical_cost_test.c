/* Files that are small and cost much: reading is bounded by steps, so no clock is needed here. */
#include "base/buf.h"
#include "base/test/test.h"
#include "job/time/ical.h"

#include <string.h>

enum { STEPS_MAX = 1000000 }; /* of a file */

static struct arena arena;
static struct ical_facts facts;

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static const struct zone *find_zone(void *arg, struct str name)
{
    (void)arg;
    (void)name;
    return NULL;
}

/* A file with so many events of these lines, and so many of those, behind one that is in order. */
static void read_file(const char *these, int count, const char *those, int others)
{
    static const struct ical_zones zones = {.find = find_zone};
    CLEANUP(buf_free) struct buf text = BUF(ICAL_BYTES_MAX);
    struct calendar_draft draft = {.arena = &arena};
    struct err err;
    buf_add(&text, STR("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\n"));
    for (int i = 0; i < count + others; i++)
        buf_printf(&text, "BEGIN:VEVENT\nUID:1\n%s\nEND:VEVENT\n", i < count ? these : those);
    buf_add(&text, STR("END:VCALENDAR\n"));
    assert_false(text.overflow);
    if (ical_read(buf_str(&text), &zones, &draft, &facts, &err) != RC_OK)
        fail_msg("%s", err.text);
}

static void assert_warned(size_t from, const char *words)
{
    assert_in_range(facts.warning_count, from, from + 1000);
    if (strstr(arena_zstr(&arena, facts.warnings.items[0].message), words) == NULL)
        fail_msg("no '%s'", words);
}

TEST(counts_that_are_never_reached_are_looked_for_only_so_long, NULL, end)
{
    read_file("DTSTART:20260101\nRRULE:FREQ=YEARLY;COUNT=9;BYMONTHDAY=1;BYSETPOS=366", 7000, "", 0);
    assert_warned(7000, "takes too long");
    read_file("DTSTART:20260101\nRRULE:FREQ=YEARLY;COUNT=20;BYDAY=FR;BYSETPOS=-1", 300, "", 0);
    assert_int_equal(facts.warning_count, 0);
}

TEST(events_of_one_uid_are_compared_only_so_often, NULL, end)
{
    enum { MOVED = 5000, ALL = 5000 };
    read_file("DTSTART:20260101", ALL, "RECURRENCE-ID:20260101\nDTSTART:20260102", MOVED);
    assert_warned(ALL - STEPS_MAX / MOVED, "have one UID");
}
