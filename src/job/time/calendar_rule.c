#include "job/time/calendar_rule.h"
#include "base/date.h"

#include <assert.h>

enum { DAY_S = 86400, WEEK_DAYS = 7, YEAR_MAX = 9999 };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t day_of(int64_t local_s)
{
    return floor_div(local_s, DAY_S);
}

static int64_t time_of_day(const struct calendar_rule *rule)
{
    return rule->start_s - day_of(rule->start_s) * DAY_S;
}

/* The first day of the week that day lies in. */
static int64_t week_of(const struct calendar_rule *rule, int64_t day)
{
    return day - (date_weekday(day) + WEEK_DAYS - rule->week_from) % WEEK_DAYS;
}

static bool is_chosen(const struct calendar_rule *rule, int64_t day)
{
    return (rule->weekdays >> date_weekday(day) & 1) != 0;
}

/* ---- the latest day, at or before `day`, on which an occurrence begins */

/* At most one look at each day of two weeks: the one that day lies in, and the one before that
 * counts. */
static int64_t weekly_before(const struct calendar_rule *rule, int64_t day)
{
    int64_t first = week_of(rule, day_of(rule->start_s));
    int64_t step = (int64_t)rule->interval * WEEK_DAYS;
    int64_t week = first + floor_div(day - first, step) * step;
    int64_t from = day < week + WEEK_DAYS - 1 ? day : week + WEEK_DAYS - 1;
    for (int64_t at = from; at >= week; at--) {
        if (is_chosen(rule, at))
            return at;
    }
    int64_t at = week - step + WEEK_DAYS - 1;
    while (!is_chosen(rule, at))
        at--;
    return at;
}

/* Its day in that year; false when the year has none. */
static bool yearly_day(const struct calendar_rule *rule, int64_t year, int64_t *ret_day)
{
    if (rule->nth == 0) {
        struct date start = date_from_days(day_of(rule->start_s));
        *ret_day = date_to_days(year, start.month, start.day);
        return start.day <= date_month_days(year, start.month);
    }
    int64_t first = date_to_days(year, rule->month, 1);
    int64_t end = first + date_month_days(year, rule->month);
    int64_t ahead = (rule->weekday + WEEK_DAYS - date_weekday(first)) % WEEK_DAYS;
    int64_t behind = (date_weekday(end - 1) + WEEK_DAYS - rule->weekday) % WEEK_DAYS;
    *ret_day = rule->nth > 0 ? first + ahead + (int64_t)(rule->nth - 1) * WEEK_DAYS
                             : end - 1 - behind + (int64_t)(rule->nth + 1) * WEEK_DAYS;
    return *ret_day >= first && *ret_day < end;
}

/* Looks back only as far as an occurrence could last. False when there is none. */
static bool yearly_before(const struct calendar_rule *rule, int64_t day, int64_t *ret_day)
{
    int64_t first = date_from_days(day_of(rule->start_s)).year;
    int64_t year = date_from_days(day).year;
    int64_t oldest = day - rule->length_s / DAY_S - 1;
    for (year -= (year - first) % rule->interval; year >= first; year -= rule->interval) {
        bool exists = yearly_day(rule, year, ret_day);
        if (exists && *ret_day <= day)
            return true;
        if (date_to_days(year, 1, 1) < oldest)
            return false;
    }
    return false;
}

static bool day_before(const struct calendar_rule *rule, int64_t day, int64_t *ret_day)
{
    int64_t start = day_of(rule->start_s);
    switch (rule->freq) {
    case CALENDAR_DAILY: *ret_day = day - (day - start) % rule->interval; break;
    case CALENDAR_WEEKLY: *ret_day = weekly_before(rule, day); break;
    default:
        if (!yearly_before(rule, day, ret_day))
            return false;
    }
    return *ret_day >= start;
}

/* All last equally long, so the latest to begin is the last to end. */
bool calendar_rule_covers(const struct calendar_rule *rule, int64_t local_s, int64_t *ret_end_s)
{
    int64_t day;
    int64_t latest_s = local_s < rule->last_s ? local_s : rule->last_s;
    if (latest_s < rule->start_s)
        return false;
    if (!day_before(rule, day_of(latest_s - time_of_day(rule)), &day))
        return false;
    *ret_end_s = day * DAY_S + time_of_day(rule) + rule->length_s;
    return *ret_end_s > local_s;
}

/* ---- counting */

/* The count-th chosen day from `day` on, in the week that begins at `week`, or the last one when
 * there are fewer. Returns how many there were up to it. */
static uint32_t count_in_week(const struct calendar_rule *rule, int64_t week, int64_t day,
                              uint32_t count, int64_t *ret_day)
{
    uint32_t found = 0;
    for (; day < week + WEEK_DAYS && found < count; day++) {
        if (is_chosen(rule, day)) {
            found++;
            *ret_day = day;
        }
    }
    return found;
}

static int64_t weekly_number(const struct calendar_rule *rule, uint32_t count)
{
    int64_t start = day_of(rule->start_s);
    int64_t week = week_of(rule, start);
    int64_t day = start;
    uint32_t found = count_in_week(rule, week, start, count, &day);
    if (found == count)
        return day;
    uint32_t per_week = count_in_week(rule, week, week, WEEK_DAYS, &day);
    assert(per_week > 0);
    uint32_t left = count - found;
    week += (int64_t)((left - 1) / per_week + 1) * rule->interval * WEEK_DAYS;
    count_in_week(rule, week, week, (left - 1) % per_week + 1, &day);
    return day;
}

static int64_t yearly_number(const struct calendar_rule *rule, uint32_t count)
{
    int64_t start = day_of(rule->start_s);
    int64_t day;
    for (int64_t year = date_from_days(start).year; year <= YEAR_MAX; year += rule->interval) {
        if (yearly_day(rule, year, &day) && day >= start && --count == 0)
            return day;
    }
    return ZONE_EVER_S / DAY_S;
}

int64_t calendar_rule_begin(const struct calendar_rule *rule, uint32_t count)
{
    int64_t day;
    assert(count >= 1 && count <= CALENDAR_COUNT_MAX);
    switch (rule->freq) {
    case CALENDAR_DAILY: day = day_of(rule->start_s) + (int64_t)(count - 1) * rule->interval; break;
    case CALENDAR_WEEKLY: day = weekly_number(rule, count); break;
    default: day = yearly_number(rule, count);
    }
    int64_t begin_s = day * DAY_S + time_of_day(rule);
    return begin_s < ZONE_MAX_S ? begin_s : ZONE_EVER_S;
}
