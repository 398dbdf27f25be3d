/* calendar_rule.h - something that lasts a while and comes again: daily, weekly or yearly.
 *
 * The part of RFC 5545's recurrence rules that calendars of holidays and maintenance use. Local
 * times as in `job/time/zone.h`. Nothing is expanded: whether a time lies in an occurrence is
 * computed, for the year 2026 as for the year 8000. */
#pragma once
#include "job/time/zone.h"

enum calendar_freq { CALENDAR_DAILY, CALENDAR_WEEKLY, CALENDAR_YEARLY };

enum { CALENDAR_INTERVAL_MAX = 10000, CALENDAR_COUNT_MAX = 100000 };

struct calendar_rule {
    const struct zone *zone; /* borrowed; NULL: the zone of who asks */
    enum calendar_freq freq;
    unsigned interval; /* every so many days, weeks or years; 1 to CALENDAR_INTERVAL_MAX */
    unsigned weekdays; /* CALENDAR_WEEKLY: bit 0 is Sunday; not 0 */
    unsigned
        week_from;  /* CALENDAR_WEEKLY: the day weeks begin with, which matters with an interval */
    unsigned month; /* CALENDAR_YEARLY, when nth is not 0: its nth weekday; else start_s says */
    int nth;        /* 1 to 5, or from the end -1 to -5 */
    unsigned weekday;
    int64_t start_s;  /* local: none begins before; its time of day is that of all */
    int64_t last_s;   /* local: none begins after; ZONE_EVER_S: it never ends */
    int64_t length_s; /* of each; above 0 */
};

/* True when local_s lies in an occurrence; *ret_end_s is where the latest such one ends. */
bool calendar_rule_covers(const struct calendar_rule *rule, int64_t local_s, int64_t *ret_end_s);

/* When number `count` (from 1 to CALENDAR_COUNT_MAX) begins, whatever last_s says; ZONE_EVER_S when
 * there are fewer before the year 10000. */
int64_t calendar_rule_begin(const struct calendar_rule *rule, uint32_t count);
