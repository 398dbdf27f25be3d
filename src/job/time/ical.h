/* ical.h - iCalendar files (RFC 5545) as calendars.
 *
 * Every event of the file is a time at which jobs are not to run: its DTSTART with DTEND or
 * DURATION (a date alone is a whole day), and the days on which its RRULE repeats it. Understood
 * are FREQ=DAILY and FREQ=WEEKLY with BYDAY, FREQ=YEARLY on a date or on "the fourth Thursday of
 * November", each with INTERVAL, COUNT and UNTIL. A file whose result would be another than the
 * author meant (other rules, exceptions, unknown zones) is refused with its line. The rest of a
 * file (alarms, to-dos, definitions of zones, which are known by name) is passed over, and so are
 * events that were cancelled and those that take no time.
 *
 * Pure: zones come from who calls. */
#pragma once
#include "job/time/calendar.h"

enum { ICAL_BYTES_MAX = 1 << 20 };

/* Where zones come from: NULL when there is none of that name. They must outlive the calendar. */
struct ical_zones {
    const struct zone *(*find)(void *arg, struct str name);
    void *arg;
};

/* Facts that a file states about itself; empty: not stated. */
struct ical_facts {
    struct str name;     /* X-WR-CALNAME */
    struct str timezone; /* X-WR-TIMEZONE: for dates, and times without a zone */
    size_t event_count;  /* that were taken */
};

/* Adds the events to draft; texts of facts live in its arena. RC_INVALID with "line 12: ..." when
 * something is not understood, RC_TOO_LARGE when it is too much. */
enum rc ical_read(struct str text, const struct ical_zones *zones, struct calendar_draft *draft,
                  struct ical_facts *ret_facts, struct err *err);
