/* calendar.h - times at which jobs are not to run: holidays, freezes, windows for maintenance.
 *
 * A calendar is a set of times. Most of them are local: "the 25th of December" and "Saturday 00:00
 * to Monday 06:00" mean what clocks on the wall show, so whoever asks brings the zone along, and a
 * zone that is changed by law needs no new calendar. Others are moments, the same everywhere. A
 * local time that comes twice when clocks are put back is in the set both times.
 *
 *     struct calendar_draft draft = {.arena = &arena};
 *     TRY(calendar_add_dates(&draft, STR("2026-12-24/2027-01-01"), err));
 *     TRY(calendar_add_weekly(&draft, STR("Sat 00:00-Mon 06:00"), err));
 *     struct calendar calendar = calendar_make(&draft);
 *     if (calendar_covers(&calendar, zone, at_s, &until_s)) ...
 *
 * Plain values in an arena: no I/O, no clock. Moments are seconds since 1970 UTC, local times as in
 * `job/time/zone.h`. `wire/message/calendar_json.h` reads documents, `job/time/ical.h` reads
 * iCalendar files. */
#pragma once
#include "base/vec.h"
#include "job/time/calendar_rule.h"

enum {
    CALENDAR_ENTRIES_MAX = 10000,
    CALENDAR_RULES_MAX =
        1000, /* of the entries; each of them costs a step whenever somebody asks */
    CALENDAR_EXCEPTIONS_MAX = 10000, /* days on which a rule has none, of all rules together */
    CALENDAR_CHAIN_MAX = 64, /* entries that follow one another without a pause, seen at once, … */
    CALENDAR_STEPS_MAX = 4000, /* … and fewer where there are many rules: steps of one question,
                                * some 2 us each */
};

/* [begin_s, end_s) */
struct calendar_span {
    int64_t begin_s;
    int64_t end_s;
};

/* Each table is sorted, and its spans neither overlap nor touch. */
struct calendar_table {
    const struct calendar_span *spans;
    size_t count;
};

struct calendar {
    struct calendar_table local;
    struct calendar_table moments;
    struct calendar_table weekly; /* local seconds since Monday 00:00 */
    const struct calendar_rule *rules;
    size_t rule_count;
};

/* True when the moment is in the set. Then everything up to *ret_until_s is, and at *ret_until_s it
 * is time to ask again: it is free then, unless more than CALENDAR_CHAIN_MAX entries follow one
 * another, or so many that it would take more than CALENDAR_STEPS_MAX. Costs a few binary searches,
 * a step for each rule, and that again for each entry that follows without a pause. */
bool calendar_covers(const struct calendar *calendar, const struct zone *zone, int64_t at_s,
                     int64_t *ret_until_s);

/* ---- making one */

struct calendar_draft {
    struct arena *arena;
    VEC(struct calendar_span) local;
    VEC(struct calendar_span) moments;
    VEC(struct calendar_span) weekly;
    VEC(struct calendar_rule) rules;
    size_t entry_count;
    size_t except_count;
};

/* All of these: RC_TOO_LARGE when there are too many entries. Spans must not be empty. */
enum rc calendar_add_local(struct calendar_draft *draft, struct calendar_span span,
                           struct err *err);
enum rc calendar_add_moments(struct calendar_draft *draft, struct calendar_span span,
                             struct err *err);
enum rc calendar_add_rule(struct calendar_draft *draft, const struct calendar_rule *rule,
                          struct err *err);
/* And these RC_INVALID when the text is not understood. */
/* "2026-12-25", or from one date to another, both included: "2026-12-24/2027-01-01". */
enum rc calendar_add_dates(struct calendar_draft *draft, struct str text, struct err *err);
/* "Sat 00:00-Mon 06:00", every week. A day ends at 24:00. */
enum rc calendar_add_weekly(struct calendar_draft *draft, struct str text, struct err *err);
/* Local ("2026-11-20T22:00", seconds if need be), or moments ("2026-11-20T22:00:00+01:00"); both in
 * the same way. */
enum rc calendar_add_window(struct calendar_draft *draft, struct str from, struct str to,
                            struct err *err);

/* Sorts and joins. The calendar lives in the draft's arena. */
struct calendar calendar_make(struct calendar_draft *draft);
/* The same in another arena, zones that were made for it included: without what it was made of. */
struct calendar calendar_copy(const struct calendar *calendar, struct arena *arena);
