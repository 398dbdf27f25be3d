/* ical_value.h - times, durations and offsets as iCalendar writes them. For `job/time/ical*.c`. */
#pragma once
#include "base/str.h"

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
/* "P1DT12H", "PT30M", "P2W"; at most ten years. */
bool ical_duration_parse(struct str text, int64_t *ret_s);
/* "+0100", "-033000": how far clocks are ahead of UTC. */
bool ical_offset_parse(struct str text, int32_t *ret_s);
