/* zone_table.h - what a zone is made of; for the files that make one (zone*.c). */
#pragma once
#include "job/time/zone.h"

#include "base/date.h"

#define ZONE_CYCLE_S ((int64_t)DATE_CYCLE_DAYS * 86400)

struct zone {
    int64_t *at_s;     /* owned: when the offset changes, ascending */
    int32_t *offset_s; /* owned: to what; never twice the same in a row */
    size_t count;
    size_t cap;
    int32_t first_offset_s; /* before the first change */
    /* From here on the table repeats: whole cycles are taken off a later moment before it is looked
     * up. ZONE_EVER_S when there is no rule for the future. */
    int64_t cycle_from_s;
};

/* One without changes yet, which does not repeat. */
struct zone *zone_new(int32_t first_offset_s);
/* The offset is offset_s from at_s on, which is not before the last change. A second change at the
 * same moment replaces the first; one to the offset that is there already is none. */
void zone_add(struct zone *zone, int64_t at_s, int32_t offset_s);

/* The footer of a TZif file: "CET-1CEST,M3.5.0,M10.5.0/3". */
struct zone_rule {
    bool has_dst;
    int32_t std_offset_s;
    int32_t dst_offset_s;
    struct zone_rule_date {
        enum { RULE_JULIAN, RULE_DAY, RULE_WEEKDAY } kind;
        int month;    /* RULE_WEEKDAY: 1 to 12 */
        int week;     /* 1 to 5, which is the last */
        int day;      /* weekday 0 to 6; day of the year 1 to 365, or 0 to 365 */
        int32_t at_s; /* local, counted from that day's midnight; may be negative */
    } start, end;     /* of daylight saving time, which may span the turn of the year */
};

enum rc zone_rule_parse(struct str text, struct zone_rule *ret_rule, struct err *err);
/* Adds what the rule says for the time after after_s, and makes the table repeat. */
void zone_rule_extend(const struct zone_rule *rule, struct zone *zone, int64_t after_s);
