/* when.h - moments and durations as text and as milliseconds.
 *
 * Inside, a moment is milliseconds since 1970 UTC (`*_ms`, wall clock); outside it is RFC 3339 in
 * UTC with milliseconds. Durations are text with units in requests ("90s", "1h30m") and integers in
 * results. Pure: no call here asks what time it is. */
#pragma once
#include "base/str.h"

enum { WHEN_TEXT_MAX = 32 };

/* Now, by both clocks that decisions need. What people mean by time (due at 03:00) goes by the wall
 * clock, which may be set back and forth (job/time/timeline.h); how long something may last (a
 * lease, a parked poll) goes by the boot clock, which only ever goes on, also while the machine
 * sleeps. */
struct moment {
    int64_t wall_ms;
    int64_t boot_ms;
    int64_t
        stepped_ms; /* all steps of the wall clock that were accepted since the start, added up */
    int64_t shaken_ms; /* wall: the newest of them that makes deletions wait; 0: there was none */
    bool unsure;       /* the wall time is not known yet; wall_ms goes on from when it was known */
};

#define WHEN_MIN_MS (-INT64_C(62167219200000)) /* 0000-01-01T00:00:00.000Z */
#define WHEN_MAX_MS INT64_C(253402300799999)   /* 9999-12-31T23:59:59.999Z */

/* "2026-11-16T03:00:00.000Z"; ret_text holds WHEN_TEXT_MAX. What lies beyond the years 0 to 9999 is
 * written as their first or last moment. */
struct str when_format(char *ret_text, int64_t at_ms);
/* "2026-11-16T04:00:00.000+01:00": the same moment as clocks show it that are so far ahead of UTC,
 * to the minute. */
struct str when_format_local(char *ret_text, int64_t at_ms, int32_t offset_s);
/* RFC 3339 with 'T' (or 't' or a space) and 'Z' or an offset; fractions of any length. */
enum rc when_parse(struct str text, int64_t *ret_ms, struct err *err);

#define DURATION_MAX_MS                                                                            \
    (INT64_C(3660) * 86400000) /* ten years: a longer one is a slip of the pen */

/* "250ms", "90s", "15m", "1h30m", "2d": units ms s m h d w, each at most once, largest first. */
enum rc duration_parse(struct str text, int64_t *ret_ms, struct err *err);
/* The shortest exact form: "1h30m"; "0s" for nothing. ret_text holds WHEN_TEXT_MAX. */
struct str duration_format(char *ret_text, int64_t ms);
