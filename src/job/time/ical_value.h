/* ical_value.h - times, durations and recurrence rules as iCalendar writes them. For
 * `job/time/ical.c`. */
#pragma once
#include "job/time/calendar_rule.h"

enum ical_kind {
    ICAL_DATE,     /* 20261225 */
    ICAL_FLOATING, /* 20261120T220000: wherever one is */
    ICAL_UTC,      /* 20261120T220000Z */
    ICAL_ZONED,    /* floating, with a TZID beside it */
};

struct ical_time {
    enum ical_kind kind; /* never ICAL_ZONED from ical_time_parse: the text does not say */
    int64_t local_s;     /* what it says, whatever the zone */
};

bool ical_time_parse(struct str text, struct ical_time *ret_time);
/* "P1DT12H", "PT30M", "P2W"; below ten years. */
bool ical_duration_parse(struct str text, int64_t *ret_s);

/* A rule as it is written; zone, start and length are for the caller to say. */
struct ical_rule {
    struct calendar_rule rule; /* last_s is not set */
    uint32_t count;            /* 0: not said */
    bool has_until;
    struct ical_time until;
};

/* start is DTSTART: members that the rule leaves open are taken from there. */
enum rc ical_rule_parse(struct str text, const struct ical_time *start, struct ical_rule *ret_rule,
                        struct err *err);
