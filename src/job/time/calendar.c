#include "job/time/calendar.h"
#include "base/date.h"
#include "base/when.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    DAY_S = 86400,
    WEEK_S = 7 * DAY_S,
    EPOCH_IN_WEEK_S = 3 * DAY_S, /* 1970 began on a Thursday, our weeks begin on Mondays */
};

/* ---- asking */

/* Where the span that t lies in ends; t when it lies in none. */
static int64_t table_until(const struct calendar_table *table, int64_t t)
{
    size_t low = 0;
    size_t high = table->count; /* the first one that begins after t is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->spans[middle].begin_s <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && table->spans[low - 1].end_s > t ? table->spans[low - 1].end_s : t;
}

static int64_t weekly_until(const struct calendar_table *table, int64_t local_s)
{
    int64_t in_week = (local_s + EPOCH_IN_WEEK_S) % WEEK_S;
    if (in_week < 0)
        in_week += WEEK_S;
    return local_s + table_until(table, in_week) - in_week;
}

/* A local time that follows at_s, as a moment: at the latest when clocks are changed, since then
 * all has to be asked anew. */
static int64_t moment_of(const struct zone_span *span, int64_t local_s)
{
    int64_t moment_s = local_s - span->offset_s;
    return moment_s < span->end_s ? moment_s : span->end_s;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Up to when at_s is covered by the entries that cover it; at_s when none does. */
static int64_t covered_until(const struct calendar *c, const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span(zone, at_s);
    int64_t local_s = at_s + span.offset_s;
    int64_t end_s = later(table_until(&c->local, local_s), weekly_until(&c->weekly, local_s));
    int64_t until_s = later(table_until(&c->moments, at_s), moment_of(&span, end_s));
    for (size_t i = 0; i < c->rule_count; i++) {
        const struct calendar_rule *rule = &c->rules[i];
        struct zone_span own = rule->zone == NULL ? span : zone_span(rule->zone, at_s);
        if (calendar_rule_covers(rule, at_s + own.offset_s, &end_s))
            until_s = later(until_s, moment_of(&own, end_s));
    }
    return until_s;
}

bool calendar_covers(const struct calendar *calendar, const struct zone *zone, int64_t at_s,
                     int64_t *ret_until_s)
{
    int64_t until_s = at_s;
    size_t looks = CALENDAR_STEPS_MAX / (calendar->rule_count + 1);
    for (size_t i = 0; i < looks && i < CALENDAR_CHAIN_MAX; i++) {
        int64_t next_s = covered_until(calendar, zone, until_s);
        if (next_s == until_s)
            break;
        until_s = next_s;
    }
    *ret_until_s = until_s;
    return until_s > at_s;
}

/* ---- making one */

static enum rc count_entry(struct calendar_draft *draft, struct err *err)
{
    if (draft->entry_count == CALENDAR_ENTRIES_MAX)
        return err_set(err, RC_TOO_LARGE, "a calendar has at most %d entries",
                       CALENDAR_ENTRIES_MAX);
    draft->entry_count++;
    return RC_OK;
}

enum rc calendar_add_local(struct calendar_draft *draft, struct calendar_span span, struct err *err)
{
    assert(span.begin_s < span.end_s);
    TRY(count_entry(draft, err));
    *VEC_PUSH(draft->arena, &draft->local) = span;
    return RC_OK;
}

enum rc calendar_add_moments(struct calendar_draft *draft, struct calendar_span span,
                             struct err *err)
{
    assert(span.begin_s < span.end_s);
    TRY(count_entry(draft, err));
    *VEC_PUSH(draft->arena, &draft->moments) = span;
    return RC_OK;
}

enum rc calendar_add_rule(struct calendar_draft *draft, const struct calendar_rule *rule,
                          struct err *err)
{
    assert(rule->length_s > 0 && rule->length_s <= CALENDAR_RULE_S_MAX && rule->interval > 0);
    if (draft->rules.len == CALENDAR_RULES_MAX)
        return err_set(err, RC_TOO_LARGE, "a calendar has at most %d entries that come again",
                       CALENDAR_RULES_MAX);
    if (rule->except_count > CALENDAR_EXCEPTIONS_MAX - draft->except_count)
        return err_set(err, RC_TOO_LARGE, "a calendar has at most %d exceptions from its rules",
                       CALENDAR_EXCEPTIONS_MAX);
    TRY(count_entry(draft, err));
    draft->except_count += rule->except_count;
    *VEC_PUSH(draft->arena, &draft->rules) = *rule;
    return RC_OK;
}

static int compare_begin(const void *a, const void *b)
{
    int64_t x = ((const struct calendar_span *)a)->begin_s;
    int64_t y = ((const struct calendar_span *)b)->begin_s;
    return (x > y) - (x < y);
}

/* Sorts, and joins what overlaps or touches. */
static struct calendar_table make_table(struct calendar_span *spans, size_t count)
{
    size_t len = 0;
    if (count > 0)
        qsort(spans, count, sizeof *spans, compare_begin);
    for (size_t i = 0; i < count; i++) {
        if (len > 0 && spans[i].begin_s <= spans[len - 1].end_s)
            spans[len - 1].end_s = later(spans[len - 1].end_s, spans[i].end_s);
        else
            spans[len++] = spans[i];
    }
    return (struct calendar_table){spans, len};
}

struct calendar calendar_make(struct calendar_draft *draft)
{
    return (struct calendar){
        .local = make_table(draft->local.items, draft->local.len),
        .moments = make_table(draft->moments.items, draft->moments.len),
        .weekly = make_table(draft->weekly.items, draft->weekly.len),
        .rules = draft->rules.items,
        .rule_count = draft->rules.len,
    };
}

/* ---- texts */

static bool take_date(struct str *rest, int64_t *ret_days)
{
    unsigned year;
    unsigned month;
    unsigned day;
    if (!str_take_digits(rest, 4, &year) || !str_take_char(rest, '-') ||
        !str_take_digits(rest, 2, &month) || !str_take_char(rest, '-') ||
        !str_take_digits(rest, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > date_month_days(year, month))
        return false;
    *ret_days = date_to_days(year, month, day);
    return true;
}

/* "06:00", or "06:00:30"; 24:00 is the end of a day. */
static bool take_time(struct str *rest, int64_t *ret_s)
{
    unsigned hour;
    unsigned minute;
    unsigned second = 0;
    if (!str_take_digits(rest, 2, &hour) || !str_take_char(rest, ':') ||
        !str_take_digits(rest, 2, &minute) ||
        (str_take_char(rest, ':') && !str_take_digits(rest, 2, &second)))
        return false;
    *ret_s = (int64_t)hour * 3600 + minute * 60 + second;
    return minute < 60 && second < 60 && *ret_s <= DAY_S;
}

static bool date_parse(struct str text, int64_t *ret_days)
{
    return take_date(&text, ret_days) && text.len == 0;
}

enum rc calendar_add_dates(struct calendar_draft *draft, struct str text, struct err *err)
{
    int64_t from;
    int64_t to;
    struct str last = text;
    struct str first = str_cut(&last, '/');
    if (!date_parse(first, &from) || !date_parse(last.ptr == NULL ? first : last, &to))
        return err_set(err, RC_INVALID,
                       "must be a date as in 2026-12-25, or two as in 2026-12-24/2027-01-01");
    if (to < from)
        return err_set(err, RC_INVALID, "ends before it begins");
    struct calendar_span span = {from * DAY_S, (to + 1) * DAY_S};
    return calendar_add_local(draft, span, err);
}

/* "Sat 00:00" as seconds since Monday. */
static bool take_week_time(struct str *rest, int64_t *ret_s)
{
    static const char names[] = "MonTueWedThuFriSatSun";
    struct str word = str_of(rest->ptr, rest->len < 3 ? rest->len : 3);
    int64_t day = 0;
    while (day < 7 && !str_eq_nocase(word, str_of(names + day * 3, 3)))
        day++;
    *rest = str_from(*rest, 3);
    if (day == 7 || !str_take_char(rest, ' ') || !take_time(rest, ret_s))
        return false;
    *ret_s += day * DAY_S;
    return true;
}

enum rc calendar_add_weekly(struct calendar_draft *draft, struct str text, struct err *err)
{
    struct calendar_span span;
    if (!take_week_time(&text, &span.begin_s) || !str_take_char(&text, '-') ||
        !take_week_time(&text, &span.end_s) || text.len > 0)
        return err_set(err, RC_INVALID, "must be as in 'Sat 00:00-Mon 06:00'");
    span.begin_s %= WEEK_S; /* Sun 24:00 */
    if (span.begin_s == span.end_s % WEEK_S && span.end_s - span.begin_s != WEEK_S)
        return err_set(err, RC_INVALID, "ends when it begins");
    TRY(count_entry(draft, err));
    if (span.end_s > span.begin_s) {
        *VEC_PUSH(draft->arena, &draft->weekly) = span;
        return RC_OK;
    }
    *VEC_PUSH(draft->arena, &draft->weekly) = (struct calendar_span){span.begin_s, WEEK_S};
    if (span.end_s > 0)
        *VEC_PUSH(draft->arena, &draft->weekly) = (struct calendar_span){0, span.end_s};
    return RC_OK;
}

/* "2026-11-20T22:00", without an offset. */
static bool local_parse(struct str text, int64_t *ret_s)
{
    int64_t days;
    int64_t time_s;
    if (!take_date(&text, &days) || !str_take_char(&text, 'T') || !take_time(&text, &time_s))
        return false;
    *ret_s = days * DAY_S + time_s;
    return text.len == 0;
}

/* Rounded so that no part of what was said is left out. */
static bool moments_parse(struct str from, struct str to, struct calendar_span *ret_span)
{
    int64_t from_ms;
    int64_t to_ms;
    if (when_parse(from, &from_ms, NULL) != RC_OK || when_parse(to, &to_ms, NULL) != RC_OK)
        return false;
    ret_span->begin_s = from_ms / 1000 - (from_ms % 1000 < 0);
    ret_span->end_s = to_ms / 1000 + (to_ms % 1000 > 0);
    return true;
}

enum rc calendar_add_window(struct calendar_draft *draft, struct str from, struct str to,
                            struct err *err)
{
    struct calendar_span span;
    bool is_local = local_parse(from, &span.begin_s) && local_parse(to, &span.end_s);
    if (!is_local && !moments_parse(from, to, &span))
        return err_set(
            err, RC_INVALID,
            "must be from one time to another, both as in 2026-11-20T22:00 or both as in "
            "2026-11-20T22:00:00Z");
    if (span.end_s <= span.begin_s)
        return err_set(err, RC_INVALID, "ends before it begins");
    return is_local ? calendar_add_local(draft, span, err) : calendar_add_moments(draft, span, err);
}

static struct calendar_table copy_table(const struct calendar_table *table, struct arena *arena)
{
    struct calendar_span *spans = ARENA_ARRAY(arena, struct calendar_span, table->count);
    if (table->count > 0)
        memcpy(spans, table->spans, table->count * sizeof *spans);
    return (struct calendar_table){spans, table->count};
}

/* A zone of a calendar's own is copied with the first of the rules that go by it. */
static const struct zone *copy_zone(const struct calendar *from, size_t rule,
                                    const struct calendar_rule *copies, struct arena *arena)
{
    for (size_t i = 0; i < rule; i++) {
        if (from->rules[i].zone == from->rules[rule].zone)
            return copies[i].zone;
    }
    return zone_copy(from->rules[rule].zone, arena);
}

static const struct calendar_rule *copy_rules(const struct calendar *from, struct arena *arena)
{
    struct calendar_rule *rules = ARENA_ARRAY(arena, struct calendar_rule, from->rule_count);
    for (size_t i = 0; i < from->rule_count; i++) {
        const struct calendar_rule *rule = &from->rules[i];
        int64_t *except = ARENA_ARRAY(arena, int64_t, rule->except_count);
        if (rule->except_count > 0)
            memcpy(except, rule->except, rule->except_count * sizeof *except);
        rules[i] = *rule;
        rules[i].except = except;
        if (rule->owns_zone)
            rules[i].zone = copy_zone(from, i, rules, arena);
    }
    return rules;
}

struct calendar calendar_copy(const struct calendar *calendar, struct arena *arena)
{
    return (struct calendar){
        .local = copy_table(&calendar->local, arena),
        .moments = copy_table(&calendar->moments, arena),
        .weekly = copy_table(&calendar->weekly, arena),
        .rules = copy_rules(calendar, arena),
        .rule_count = calendar->rule_count,
    };
}
