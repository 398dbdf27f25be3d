/* zone_rule.c - the POSIX form of a zone's future: "std offset dst offset, start, end". */
#include "job/time/zone_table.h"

#include <stdlib.h>

enum {
    HOUR_S = 3600,
    DAY_S = 86400,
    RULE_HOURS_MAX = 167, /* of the time of day at which clocks change: a week either way */
};

/* ---- reading */

static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c)
        return false;
    *rest = str_from(*rest, 1);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Up to three digits that are a number from min to max. */
static bool take_number(struct str *rest, int min, int max, int *ret_value)
{
    int value = 0;
    size_t len = 0;
    while (len < 3 && len < rest->len && is_digit(rest->ptr[len]))
        value = value * 10 + (rest->ptr[len++] - '0');
    if (len == 0 || value < min || value > max)
        return false;
    *rest = str_from(*rest, len);
    *ret_value = value;
    return true;
}

/* "CET", or "<+0330>" when it is not made of letters. Nothing here needs it. */
static bool take_name(struct str *rest)
{
    size_t len = 0;
    if (take_char(rest, '<')) {
        len = str_index(*rest, '>');
        if (len == 0 || len == rest->len)
            return false;
        *rest = str_from(*rest, len + 1);
        return true;
    }
    while (len < rest->len && is_letter(rest->ptr[len]))
        len++;
    *rest = str_from(*rest, len);
    return len >= 3;
}

/* "[+-]hh[:mm[:ss]]" */
static bool take_time(struct str *rest, int hours_max, int32_t *ret_s)
{
    int sign = take_char(rest, '-') ? -1 : 1;
    if (sign > 0)
        (void)take_char(rest, '+');
    int hours;
    int minutes = 0;
    int seconds = 0;
    if (!take_number(rest, 0, hours_max, &hours))
        return false;
    if (take_char(rest, ':')) {
        if (!take_number(rest, 0, 59, &minutes))
            return false;
        if (take_char(rest, ':') && !take_number(rest, 0, 59, &seconds))
            return false;
    }
    *ret_s = sign * (hours * HOUR_S + minutes * 60 + seconds);
    return true;
}

/* ",M10.5.0/3": the last Sunday of October at three; ",J60" and ",59" are days of the year. */
static bool take_date(struct str *rest, struct zone_rule_date *ret_date)
{
    struct zone_rule_date date = {.at_s = 2 * HOUR_S};
    bool ok = take_char(rest, ',');
    if (ok && take_char(rest, 'M')) {
        date.kind = RULE_WEEKDAY;
        ok = take_number(rest, 1, 12, &date.month) && take_char(rest, '.') &&
             take_number(rest, 1, 5, &date.week) && take_char(rest, '.') &&
             take_number(rest, 0, 6, &date.day);
    } else if (ok && take_char(rest, 'J')) {
        date.kind = RULE_JULIAN;
        ok = take_number(rest, 1, 365, &date.day);
    } else if (ok) {
        date.kind = RULE_DAY;
        ok = take_number(rest, 0, 365, &date.day);
    }
    if (ok && take_char(rest, '/'))
        ok = take_time(rest, RULE_HOURS_MAX, &date.at_s);
    *ret_date = date;
    return ok;
}

/* POSIX counts offsets westwards. Daylight saving time is an hour ahead unless it says
 * otherwise. */
static bool take_rule(struct str *rest, struct zone_rule *rule)
{
    int32_t west_s;
    if (!take_name(rest) || !take_time(rest, 24, &west_s))
        return false;
    rule->std_offset_s = -west_s;
    if (rest->len == 0)
        return true;
    rule->has_dst = true;
    rule->dst_offset_s = rule->std_offset_s + HOUR_S;
    if (!take_name(rest))
        return false;
    if (rest->len > 0 && rest->ptr[0] != ',') {
        if (!take_time(rest, 24, &west_s))
            return false;
        rule->dst_offset_s = -west_s;
    }
    return take_date(rest, &rule->start) && take_date(rest, &rule->end) && rest->len == 0;
}

enum rc zone_rule_parse(struct str text, struct zone_rule *ret_rule, struct err *err)
{
    struct str rest = text;
    *ret_rule = (struct zone_rule){0};
    if (take_rule(&rest, ret_rule))
        return RC_OK;
    return err_set(err, RC_CORRUPT,
                   "the rule for the future ends in nonsense, %zu bytes from its end", rest.len);
}

/* ---- working it out */

static int64_t day_of(const struct zone_rule_date *date, int64_t year)
{
    if (date->kind == RULE_DAY)
        return date_to_days(year, 1, 1) + date->day;
    if (date->kind == RULE_JULIAN) /* never counts 29 February */
        return date_to_days(year, 1, 1) + date->day - 1 + (date_is_leap(year) && date->day > 59);
    int64_t first = date_to_days(year, (unsigned)date->month, 1);
    int64_t day = first + (date->day + 7 - (int)date_weekday(first)) % 7 + (date->week - 1) * 7;
    int64_t next = first + date_month_days(year, (unsigned)date->month);
    return day < next ? day : day - 7;
}

struct change {
    int64_t at_s;
    int32_t offset_s;
    bool to_dst;
};

/* By time. When one year's daylight saving time ends where the next one's begins, it goes on: the
 * beginning comes later and wins. */
static int compare(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return x->to_dst - y->to_dst;
}

/* The first day of a year on which the changes of its neighbours, a week off at most, are over. */
static int64_t settled_s(int64_t year)
{
    return date_to_days(year, 1, 8) * DAY_S;
}

/* The year that after_s is in may have its changes still to come, and the one before may reach into
 * it; from the second year on the rule alone speaks, so there the cycle begins. */
void zone_rule_extend(const struct zone_rule *rule, struct zone *zone, int64_t after_s)
{
    enum { YEARS = DATE_CYCLE_YEARS + 5 };
    struct change changes[2 * YEARS];
    size_t count = 0;
    int64_t first = date_from_days(after_s / DAY_S - (after_s % DAY_S < 0)).year;
    if (!rule->has_dst)
        return;
    for (int64_t year = first - 1; year < first - 1 + YEARS; year++) {
        const struct zone_rule_date *start = &rule->start;
        const struct zone_rule_date *end = &rule->end;
        changes[count++] =
            (struct change){day_of(start, year) * DAY_S + start->at_s - rule->std_offset_s,
                            rule->dst_offset_s, true};
        changes[count++] = (struct change){
            day_of(end, year) * DAY_S + end->at_s - rule->dst_offset_s, rule->std_offset_s, false};
    }
    qsort(changes, count, sizeof changes[0], compare);
    size_t before = zone->count;
    int64_t end_s = settled_s(first - 1 + YEARS - 1); /* beyond it the next year would speak too */
    for (size_t i = 0; i < count; i++) {
        if (changes[i].at_s > after_s && changes[i].at_s < end_s)
            zone_add(zone, changes[i].at_s, changes[i].offset_s);
    }
    if (zone->count > before + DATE_CYCLE_YEARS) /* else it is daylight saving time all year */
        zone->cycle_from_s = settled_s(first + 2);
}
