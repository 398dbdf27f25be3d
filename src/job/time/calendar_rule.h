/* calendar_rule.h - something that lasts a while and comes again: daily, weekly, monthly or yearly.
 *
 * The recurrence rules of RFC 5545 whose occurrences begin at one time of day. Local times as in
 * `job/time/zone.h`. Nothing is expanded: the days of a month on which a rule begins are a set of
 * bits, so whether a time lies in an occurrence is a question about a month or two, for the year
 * 2026 as for the year 8000. Limits keep it that cheap: an occurrence lasts a year at most. */
#pragma once
#include "job/time/zone.h"

enum calendar_freq { CALENDAR_DAILY, CALENDAR_WEEKLY, CALENDAR_MONTHLY, CALENDAR_YEARLY };

enum {
    CALENDAR_INTERVAL_MAX = 10000,
    CALENDAR_COUNT_MAX = 100000,
    CALENDAR_NTHS_MAX = 35,      /* the first to the fifth of each weekday */
    CALENDAR_POSITIONS_MAX = 16, /* of BYSETPOS */
    CALENDAR_RULE_S_MAX = 366 * 86400,
};

/* The nth of a weekday: 1 is the first, -1 the last. */
struct calendar_nth {
    int8_t nth;
    uint8_t weekday;
};

/* A list that is empty restricts nothing; without any of them a yearly rule is on the date of
 * start_s, a monthly one on its day of the month, a weekly one on its weekday. */
struct calendar_rule {
    const struct zone *zone; /* borrowed, unless owns_zone; NULL: the zone of who asks */
    bool owns_zone;          /* it was made for this calendar, and lives in its arena */
    enum calendar_freq freq;
    unsigned interval;       /* every so many of them; 1 to CALENDAR_INTERVAL_MAX */
    unsigned week_from;      /* the day weeks begin with, which matters to a weekly interval */
    unsigned months;         /* bit 1 is January */
    uint32_t month_days;     /* bit 1 is the first day */
    uint32_t last_days;      /* bit 1 is the last day of the month, bit 2 the one before it */
    unsigned weekdays;       /* bit 0 is Sunday */
    unsigned nth_count;      /* monthly and yearly: beside weekdays */
    unsigned position_count; /* monthly and yearly */
    struct calendar_nth nths[CALENDAR_NTHS_MAX]; /* of the year when it is yearly without months */
    int16_t positions[CALENDAR_POSITIONS_MAX];   /* which of a month's or year's days to keep */
    const int64_t *except; /* days on which none begins after all, ascending; borrowed */
    size_t except_count;
    int64_t start_s;  /* local: none begins before; its time of day is that of all */
    int64_t last_s;   /* local: none begins after; ZONE_EVER_S: it never ends */
    int64_t length_s; /* of each; above 0, at most CALENDAR_RULE_S_MAX */
};

/* True when local_s lies in an occurrence; *ret_end_s is where the latest such one ends. */
bool calendar_rule_covers(const struct calendar_rule *rule, int64_t local_s, int64_t *ret_end_s);

/* True when an occurrence begins at local_s, whatever last_s and the exceptions say. */
bool calendar_rule_begins(const struct calendar_rule *rule, int64_t local_s);

/* When number `count` (from 1 to CALENDAR_COUNT_MAX) begins, whatever last_s and the exceptions
 * say; ZONE_EVER_S when there are fewer before the year 10000. */
int64_t calendar_rule_begin(const struct calendar_rule *rule, uint32_t count);

/* When the first one after local_s begins, as above. */
int64_t calendar_rule_after(const struct calendar_rule *rule, int64_t local_s);
