/* cron.h - cron expressions: what they mean, and when they fire in a zone with its DST nights.
 *
 * Five fields (minute, hour, day of month, month, day of week) or six with leading seconds; names,
 * lists, ranges, steps; `L LW 15W FRI#2 FRIL ?`; `H`, which stands for a value that depends on the
 * job's name; `@daily` and its like; `@every 90s`; a zone in front (`CRON_TZ=Europe/Berlin `). As
 * in Vixie cron, a day matches when the day of month *or* the day of week does; when one of the two
 * fields begins with a star, both must.
 *
 * Where clocks change: an expression whose minute or hour begins with a star follows real time. It
 * fires nothing in a gap and goes on through both passes of a fold. Every other one names times of
 * day, and each of these is a promise: one that falls into a gap fires when the gap ends, all of
 * the same gap together (or not at all: CRON_GAP_SKIP), and one that happens twice fires the first
 * time (or the second, or both). `struct cron_slot` says which promise was kept, as nominal local
 * time, so that a zone that was changed by law overnight does not keep one twice.
 *
 * Plain values, no allocation, no clock. Moments are seconds since 1970 UTC; local times as in
 * `job/time/zone.h`. Inside: cron_parse.c reads, cron_match.c knows the calendar, cron_next.c the
 * zone, cron_text.c the words. */
#pragma once
#include "base/buf.h"
#include "job/time/zone.h"

enum { CRON_TEXT_BYTES_MAX = 1024 };

struct cron {
    uint64_t seconds; /* bit n: second n of the minute, and so on */
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;           /* bits 1 to 31 */
    uint32_t near_days;      /* 15W: the working day nearest to the 15th, in the same month */
    uint16_t months;         /* bits 1 to 12 */
    uint8_t weekdays;        /* bit 0: Sunday */
    uint8_t last_weekdays;   /* FRIL: the last Friday of the month */
    uint8_t nth_weekdays[7]; /* FRI#2 is bit 2 of [5] */
    bool last_day;           /* L */
    bool last_working_day;   /* LW; working days are Monday to Friday */
    bool days_and;           /* a day field begins with a star: both must match, not either */
    bool real_time;          /* minute or hour begins with a star */
    int64_t every_ms;        /* @every; then nothing above counts. 0: it is no such thing */
};

struct cron_options {
    bool seconds;    /* six fields, the first one is seconds */
    struct str name; /* of the job; H depends on it */
};

/* ret_zone is what CRON_TZ= says, a part of text; empty without it. RC_INVALID with the field and
 * the reason; a date that never comes is refused too. */
enum rc cron_parse(struct str text, const struct cron_options *options, struct cron *ret_cron,
                   struct str *ret_zone, struct err *err);

/* In plain English: "at 03:00 from Monday to Friday". */
void cron_text(const struct cron *cron, struct buf *out);

/* ---- when it fires; not for @every, which is a matter of elapsed time (`job/time/schedule.h`) */

enum cron_gap { CRON_GAP_AFTER, CRON_GAP_SKIP };
enum cron_fold { CRON_FOLD_FIRST, CRON_FOLD_SECOND, CRON_FOLD_BOTH };

/* The clock on the wall that an expression goes by. */
struct cron_clock {
    const struct zone *zone; /* borrowed */
    enum cron_gap gap;
    enum cron_fold fold;
};

/* One firing. */
struct cron_slot {
    int64_t at_s;
    int64_t nominal_s; /* local: the time that was promised; the last one if a gap put several into
                        * one. For an expression that follows real time, what clocks show. */
    bool again;        /* the second pass of a fold */
};

/* The slot to start from when there was none before. */
static inline struct cron_slot cron_from(int64_t at_s)
{
    return (struct cron_slot){.at_s = at_s, .nominal_s = -ZONE_EVER_S};
}

/* The first firing after that one: later by the clock and, unless it follows real time, of a
 * promise that was not kept yet. False when there is none before the year 10000. Costs a fraction
 * of a microsecond, a few for dates that are years away. */
bool cron_next(const struct cron *cron, const struct cron_clock *clock,
               const struct cron_slot *after, struct cron_slot *ret_slot);

/* How many firings follow `after`, until_s included. Counts whole days at once: the work is one
 * step for each month and for each change of the clock in between, 14 for most years. */
uint64_t cron_count(const struct cron *cron, const struct cron_clock *clock,
                    const struct cron_slot *after, int64_t until_s);
