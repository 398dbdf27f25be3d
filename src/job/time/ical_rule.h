/* ical_rule.h - recurrence rules as iCalendar writes them: "FREQ=MONTHLY;BYDAY=-1FR". For
 * `job/time/ical*.c`.
 *
 * Understood are FREQ=DAILY, WEEKLY, MONTHLY and YEARLY with INTERVAL, COUNT, UNTIL, WKST, BYMONTH,
 * BYMONTHDAY, BYDAY and BYSETPOS, each where RFC 5545 allows it (BYSETPOS: of months and years).
 * BYHOUR, BYMINUTE and BYSECOND may say what the start says. Everything else is refused: an event
 * that comes at other times than its author meant is worse than one that is left out and named. */
#pragma once
#include "job/time/calendar_rule.h"
#include "job/time/ical_value.h"

/* A rule as it is written; zone, start and length are for the caller to say. */
struct ical_rule {
    struct calendar_rule rule; /* last_s is not set */
    uint32_t count;            /* 0: not said */
    bool has_until;
    struct ical_time until;
};

/* start is DTSTART. RC_INVALID says what is not understood. */
enum rc ical_rule_parse(struct str text, const struct ical_time *start, struct ical_rule *ret_rule,
                        struct err *err);
