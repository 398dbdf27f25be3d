/* almanac.h - calendars as jobs go by them: what becomes of a run that falls into one.
 *
 * An almanac is a calendar with what its owner said beside the times: whether a run that falls into
 * them is held until they are over or skipped, and by which clock on which wall they go. A job may
 * go by several, and may say otherwise about each; `almanac_ruling` is their verdict about a
 * moment.
 *
 * Plain values: no I/O, no clock. Times are milliseconds since 1970 UTC. */
#pragma once
#include "base/words.h"
#include "job/time/calendar.h"

/* Kept by number: append only. */
enum calendar_policy {
    CALENDAR_SKIP, /* it does not run, and its record says so */
    CALENDAR_HOLD, /* it waits until the times are over */
    CALENDAR_POLICIES
};

extern const struct words calendar_policy_words;

struct almanac {
    struct calendar calendar;
    enum calendar_policy policy;
    const struct zone *zone; /* borrowed; NULL: that of the job's schedule */
    uint32_t entry_count;
};

/* One of those that a job goes by. */
struct almanac_use {
    struct str name;
    const struct almanac *almanac; /* NULL: it cannot be read */
    enum calendar_policy policy;
};

enum verdict { CALENDAR_FREE, CALENDAR_HOLDS, CALENDAR_SKIPS };

struct ruling {
    enum verdict verdict;
    struct str calendar; /* the one that lasts longest */
    int64_t until_ms;    /* after the moment; then it is time to ask again */
    bool unreadable;     /* the calendar cannot be read: until_ms is when to look again */
};

enum { ALMANAC_LOOK_AGAIN_MS = 3600000 };

/* To skip weighs more than to hold. One that cannot be read holds: nothing shall run in a time that
 * somebody excluded because a row is damaged. */
struct ruling almanac_ruling(const struct almanac_use *uses, size_t count, const struct zone *zone,
                             int64_t at_ms);
