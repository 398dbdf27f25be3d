/* zone.h - a time zone: what clocks on the wall show, and when they are changed.
 *
 * A zone is read from the bytes of a TZif file (RFC 9636, versions 1 to 4), as the system keeps
 * them below /usr/share/zoneinfo; finding and reading the file is another's business
 * (`loop/zones.h`). Its footer, a rule in POSIX form, is worked out for one cycle of the calendar
 * (400 years), which then repeats: so the year 2500 is looked up as the year 2026 is, in one table.
 *
 * Moments are seconds since 1970 UTC (`*_s`). Local time is written the same way: `local_s` is how
 * many seconds a clock on the wall is past its own 1970-01-01 00:00:00. Where clocks are put
 * forward some local times never happen (a gap), where they are put back some happen twice (a
 * fold). Only changes of the offset count here; a new name for the same offset is no change.
 *
 * A zone does not change once it is made, and may be read by many threads. Leap seconds are not
 * counted, as everywhere outside the `right/` files, which are refused. */
#pragma once
#include "base/arena.h"

#define ZONE_MIN_S (-INT64_C(62167219200)) /* 0000-01-01T00:00:00Z */
#define ZONE_MAX_S INT64_C(253402300800)   /* 10000-01-01T00:00:00Z: here zones and schedules end */
#define ZONE_EVER_S (INT64_C(1) << 60)     /* "always": far away, yet offsets may be added to it */

enum {
    ZONE_OFFSET_MIN_S = -89999, /* what RFC 9636 allows: beyond -25 and +26 hours nobody lives */
    ZONE_OFFSET_MAX_S = 93599,
    ZONE_BYTES_MAX = 1 << 18, /* of a file; the largest of 2026 has 3.6 KB */
};

struct zone;

/* RC_CORRUPT, and what is wrong, unless the bytes are a whole TZif file without leap seconds. */
enum rc zone_parse(struct str bytes, struct zone **ret_zone, struct err *err);
void zone_free(struct zone *zone);
/* One that lives in the arena, and is not freed. */
const struct zone *zone_copy(const struct zone *zone, struct arena *arena);

/* The zone without any changes, which needs no file. Never freed. */
const struct zone *zone_utc(void);

/* A stretch of time in which the offset stays the same: [begin_s, end_s). The first begins at
 * -ZONE_EVER_S, the last ends at ZONE_EVER_S. */
struct zone_span {
    int64_t begin_s;
    int64_t end_s;
    int32_t offset_s; /* local is UTC plus this */
};

/* The stretch that at_s lies in. Its neighbours are those of begin_s - 1 and end_s. */
struct zone_span zone_span(const struct zone *zone, int64_t at_s);

enum zone_fit {
    ZONE_ONCE,
    ZONE_GAP,  /* never: clocks were put forward over it */
    ZONE_FOLD, /* more than once */
};

struct zone_moments {
    enum zone_fit fit;
    int64_t first_s; /* when it is that time; the instant at which the gap ends */
    int64_t last_s;  /* the last pass of a fold, else as first_s */
};

/* The moments at which clocks show local_s. */
struct zone_moments zone_from_local(const struct zone *zone, int64_t local_s);
