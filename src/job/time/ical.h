/* ical.h - iCalendar files (RFC 5545) as calendars.
 *
 * Every event of the file is a time at which jobs are not to run: its DTSTART with DTEND or
 * DURATION (a date alone is a whole day), and the days on which its RRULE and RDATE repeat it,
 * without those of EXDATE and those that were moved (RECURRENCE-ID). `job/time/ical_rule.h` says
 * which rules are understood, `job/time/ical_zone.h` how a time zone is found. An event that would
 * come at other times than its author meant is left out as a whole, with a warning about it; a
 * file of which nothing else would be left is refused. The rest of a file (alarms, to-dos) is
 * passed over, and so are events that were cancelled and those that take no time.
 *
 * Pure: zones come from who calls. */
#pragma once
#include "job/time/ical_event.h"

enum { ICAL_BYTES_MAX = 1 << 20, ICAL_WARNINGS_MAX = 100, ICAL_SHOWN_BYTES_MAX = 200 };

/* About an event that was left out. */
struct ical_warning {
    size_t line; /* that it begins with */
    struct str uid;
    struct str summary; /* both at most ICAL_SHOWN_BYTES_MAX bytes, and may be empty */
    struct str message;
};

/* Facts that a file states about itself; empty: not stated. */
struct ical_facts {
    struct str name;                   /* X-WR-CALNAME */
    struct str timezone;               /* X-WR-TIMEZONE: for dates, and times without a zone */
    size_t event_count;                /* that were taken */
    VEC(struct ical_warning) warnings; /* the first ICAL_WARNINGS_MAX */
    size_t warning_count;              /* all of them */
};

/* Adds the events to draft; texts of facts live in its arena. RC_INVALID with "line 12: ..." when
 * it is no such file or nothing of it is understood, RC_TOO_LARGE when it is too much. */
enum rc ical_read(struct str text, const struct ical_zones *zones, struct calendar_draft *draft,
                  struct ical_facts *ret_facts, struct err *err);
