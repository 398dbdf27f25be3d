/* ical_zone.h - the time zones that an iCalendar file goes by. For `job/time/ical*.c`.
 *
 * A TZID is found in this order:
 *
 *  1. a zone of the system, "Europe/Berlin": it knows more than the file, and its laws are kept;
 *  2. the zone of the system that Windows means, "W. Europe Standard Time";
 *  3. the zone of the system that stands at the end of it, "/mozilla.org/20070129_1/Europe/Berlin";
 *  4. the zone of the system that the file's VTIMEZONE says it is, by X-LIC-LOCATION;
 *  5. the rules of that VTIMEZONE itself, of which a zone is made for the calendar.
 *
 * A VTIMEZONE is read when its rules are needed: one that makes no sense does no harm before. */
#pragma once
#include "base/vec.h"
#include "job/time/ical_line.h"
#include "job/time/zone.h"

enum {
    ICAL_ZONES_MAX = 500,         /* that a file names or defines */
    ICAL_OBSERVANCES_MAX = 200,   /* of one of them */
    ICAL_ZONE_CHANGES_MAX = 4000, /* two a year for the cycle of 400 years, and what came before */
};

/* Where zones of the system come from: NULL when there is none of that name. They must outlive the
 * calendar. */
struct ical_zones {
    const struct zone *(*find)(void *arg, struct str name);
    void *arg;
};

/* STANDARD or DAYLIGHT; a line whose number is 0 was not there. */
struct ical_observance {
    struct ical_line start;
    struct ical_line from;
    struct ical_line to;
    struct ical_line rule;
    VEC(struct ical_line) dates; /* RDATE */
};

struct ical_timezone {
    struct str tzid;
    struct str location; /* X-LIC-LOCATION */
    size_t number;       /* of its line; 0: it is named but not defined */
    VEC(struct ical_observance) observances;
    bool known;              /* what follows has been looked for */
    bool made;               /* of the observances, in the arena */
    const struct zone *zone; /* NULL: there is none */
    const char *problem;
};

struct ical_timezones {
    const struct ical_zones *system;
    struct arena *arena;
    VEC(struct ical_timezone) items;
};

/* Reads a VTIMEZONE, behind its BEGIN up to its END. RC_INVALID: the file ends before. */
enum rc ical_timezone_read(struct ical_timezones *all, struct ical_source *source, struct err *err);

struct ical_zone_found {
    const struct zone *zone;
    bool made; /* lives in the arena */
};

enum rc ical_timezone_find(struct ical_timezones *all, struct str tzid,
                           struct ical_zone_found *ret_found, struct err *err);
/* The first four steps. */
const struct zone *ical_zone_named(const struct ical_zones *system, struct str tzid);

/* The IANA name of one of Windows' zones (its TZID, not as it is shown to people); empty when there
 * is none. */
struct str ical_windows_zone(struct str tzid);
