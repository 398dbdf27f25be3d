#include "job/time/calendar_rule.h"
#include "base/date.h"

#include <assert.h>

#define NEVER INT64_MIN

enum { DAY_S = 86400, WEEK_DAYS = 7, YEAR_MONTHS = 12, YEAR_MAX = 9999 };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    return a - floor_div(a, b) * b;
}

static int64_t day_of(int64_t local_s)
{
    return floor_div(local_s, DAY_S);
}

static int64_t time_of_day(const struct calendar_rule *rule)
{
    return floor_mod(rule->start_s, DAY_S);
}

/* ---- months as sets of days: bit 0 is the first */

struct month {
    int64_t year;
    unsigned month; /* 1 to 12 */
    unsigned len;
    int64_t first; /* its first day */
};

static struct month month_make(int64_t year, unsigned month)
{
    return (struct month){year, month, date_month_days(year, month), date_to_days(year, month, 1)};
}

static struct month month_of(int64_t day)
{
    struct date date = date_from_days(day);
    return (struct month){date.year, date.month, date_month_days(date.year, date.month),
                          day - date.day + 1};
}

/* So many months later, or earlier. */
static struct month month_move(const struct month *month, int64_t count)
{
    int64_t number = month->year * YEAR_MONTHS + month->month - 1 + count;
    return month_make(floor_div(number, YEAR_MONTHS), (unsigned)floor_mod(number, YEAR_MONTHS) + 1);
}

/* Bits 0 to count - 1. */
static uint32_t first_bits(int64_t count)
{
    return count <= 0 ? 0 : count >= 32 ? UINT32_MAX : (UINT32_C(1) << count) - 1;
}

/* The lowest bits of `days`, so many as `index`, are taken away; the next one is the answer. */
static uint32_t bit_at(uint32_t days, int64_t index)
{
    while (index-- > 0)
        days &= days - 1;
    return days & -days;
}

/* ---- the days of a rule */

/* A rule, with the lists filled in that it leaves to its start. */
struct pattern {
    const struct calendar_rule *rule;
    int64_t start; /* the day */
    struct date date;
    unsigned months;
    unsigned weekdays;
    uint32_t month_days;
};

static struct pattern pattern_of(const struct calendar_rule *rule)
{
    int64_t start = day_of(rule->start_s);
    bool by_day = rule->weekdays != 0 || rule->nth_count > 0;
    bool by_date = rule->month_days != 0 || rule->last_days != 0;
    struct pattern p = {
        .rule = rule,
        .start = start,
        .date = date_from_days(start),
        .months = rule->months,
        .weekdays = rule->weekdays,
        .month_days = rule->month_days,
    };
    if (rule->freq == CALENDAR_WEEKLY && !by_day)
        p.weekdays = 1U << date_weekday(start);
    if (rule->freq < CALENDAR_MONTHLY || by_day || by_date)
        return p;
    p.month_days = UINT32_C(1) << p.date.day;
    if (rule->freq == CALENDAR_YEARLY && p.months == 0)
        p.months = 1U << p.date.month;
    return p;
}

static bool has_month(const struct pattern *p, const struct month *month)
{
    return p->months == 0 || (p->months >> month->month & 1) != 0;
}

/* False when its interval steps over this month; days and weeks are looked at one by one. */
static bool is_in_turn(const struct pattern *p, const struct month *month)
{
    int64_t years = month->year - p->date.year;
    int64_t months = years * YEAR_MONTHS + month->month - p->date.month;
    if (p->rule->freq == CALENDAR_YEARLY)
        return years % p->rule->interval == 0;
    return p->rule->freq != CALENDAR_MONTHLY || months % p->rule->interval == 0;
}

static uint32_t by_date(const struct pattern *p, const struct month *month)
{
    uint32_t days = p->month_days >> 1;
    for (uint32_t rest = p->rule->last_days; rest != 0; rest &= rest - 1) {
        unsigned back = (unsigned)__builtin_ctz(rest);
        if (back <= month->len)
            days |= UINT32_C(1) << (month->len - back);
    }
    return days;
}

/* The nth weekday of the days from first to end - 1, or beyond them when there are fewer. */
static int64_t nth_day(const struct calendar_nth *nth, int64_t first, int64_t end)
{
    int64_t ahead = (nth->weekday + WEEK_DAYS - date_weekday(first)) % WEEK_DAYS;
    int64_t behind = (date_weekday(end - 1) + WEEK_DAYS - nth->weekday) % WEEK_DAYS;
    return nth->nth > 0 ? first + ahead + (int64_t)(nth->nth - 1) * WEEK_DAYS
                        : end - 1 - behind + (int64_t)(nth->nth + 1) * WEEK_DAYS;
}

static uint32_t by_weekday(const struct pattern *p, const struct month *month)
{
    enum { EVERY_WEEK = 0x10204081 }; /* days 1, 8, 15, 22 and 29 */
    const struct calendar_rule *rule = p->rule;
    unsigned first = date_weekday(month->first);
    int64_t begin = month->first;
    int64_t end = begin + month->len;
    uint32_t days = 0;
    for (unsigned rest = p->weekdays; rest != 0; rest &= rest - 1)
        days |= (uint32_t)EVERY_WEEK
                << ((unsigned)__builtin_ctz(rest) + WEEK_DAYS - first) % WEEK_DAYS;
    if (rule->nth_count > 0 && rule->freq == CALENDAR_YEARLY && rule->months == 0) {
        begin = date_to_days(month->year, 1, 1);
        end = date_to_days(month->year + 1, 1, 1);
    }
    for (unsigned i = 0; i < rule->nth_count; i++) {
        int64_t day = nth_day(&rule->nths[i], begin, end);
        if (day >= begin && day < end && day >= month->first && day < month->first + month->len)
            days |= UINT32_C(1) << (day - month->first);
    }
    return days;
}

/* The days that an interval of days or weeks does not step over. */
static uint32_t by_interval(const struct pattern *p, const struct month *month)
{
    const struct calendar_rule *rule = p->rule;
    bool weekly = rule->freq == CALENDAR_WEEKLY;
    int64_t unit = weekly ? WEEK_DAYS : 1;
    int64_t from =
        weekly ? p->start - (date_weekday(p->start) + WEEK_DAYS - rule->week_from) % WEEK_DAYS
               : p->start;
    int64_t period = unit * rule->interval;
    int64_t at = floor_mod(month->first - from, period); /* how far the first is into its period */
    uint32_t days = at < unit ? first_bits(unit - at) : 0;
    for (int64_t next = period - at; next < month->len; next += period)
        days |= first_bits(unit) << next;
    return days;
}

/* Before BYSETPOS, and whether or not the rule has begun. */
static uint32_t chosen_days(const struct pattern *p, const struct month *month)
{
    const struct calendar_rule *rule = p->rule;
    uint32_t days = first_bits(month->len);
    if (!has_month(p, month) || !is_in_turn(p, month))
        return 0;
    if (p->month_days != 0 || rule->last_days != 0)
        days &= by_date(p, month);
    if (p->weekdays != 0 || rule->nth_count > 0)
        days &= by_weekday(p, month);
    if (rule->freq < CALENDAR_MONTHLY && rule->interval > 1)
        days &= by_interval(p, month);
    return days;
}

/* Positions count through the period: the month, or all months of the year. */
static uint32_t kept_days(const struct pattern *p, const struct month *month, uint32_t days)
{
    const struct calendar_rule *rule = p->rule;
    int64_t before = 0;
    int64_t total = __builtin_popcount(days);
    uint32_t kept = 0;
    if (rule->freq == CALENDAR_YEARLY) {
        for (unsigned m = 1; m <= YEAR_MONTHS; m++) {
            struct month other = month_make(month->year, m);
            int64_t count = m == month->month ? 0 : __builtin_popcount(chosen_days(p, &other));
            before += m < month->month ? count : 0;
            total += count;
        }
    }
    for (unsigned i = 0; i < rule->position_count; i++) {
        int64_t position = rule->positions[i];
        int64_t index = (position > 0 ? position - 1 : total + position) - before;
        if (index >= 0)
            kept |= bit_at(days, index < 32 ? index : 32);
    }
    return kept;
}

/* The days of this month on which an occurrence begins, from the rule's start on. */
static uint32_t days_in(const struct pattern *p, const struct month *month)
{
    uint32_t days = chosen_days(p, month);
    if (days != 0 && p->rule->position_count > 0)
        days = kept_days(p, month, days);
    return days & ~first_bits(p->start - month->first);
}

static bool is_exception(const struct calendar_rule *rule, int64_t day)
{
    size_t low = 0;
    size_t high = rule->except_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rule->except[middle] < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rule->except_count && rule->except[low] == day;
}

/* ---- asking */

/* The latest day, at or before `day`, on which an occurrence begins that could still last then. */
static int64_t day_before(const struct pattern *p, int64_t day)
{
    int64_t oldest = day - p->rule->length_s / DAY_S - 1;
    if (oldest < p->start)
        oldest = p->start;
    if (day < oldest)
        return NEVER;
    for (struct month month = month_of(day);; month = month_move(&month, -1)) {
        uint32_t days = days_in(p, &month) & first_bits(day - month.first + 1);
        while (days != 0) {
            unsigned top = 31 - (unsigned)__builtin_clz(days);
            if (!is_exception(p->rule, month.first + top))
                return month.first + top;
            days &= ~(UINT32_C(1) << top);
        }
        if (month.first <= oldest)
            return NEVER;
    }
}

/* All last equally long, so the latest to begin is the last to end. */
bool calendar_rule_covers(const struct calendar_rule *rule, int64_t local_s, int64_t *ret_end_s)
{
    int64_t latest_s = local_s < rule->last_s ? local_s : rule->last_s;
    if (latest_s < rule->start_s || local_s - latest_s >= rule->length_s)
        return false;
    struct pattern p = pattern_of(rule);
    int64_t day = day_before(&p, day_of(latest_s - time_of_day(rule)));
    if (day == NEVER)
        return false;
    *ret_end_s = day * DAY_S + time_of_day(rule) + rule->length_s;
    return *ret_end_s > local_s;
}

bool calendar_rule_begins(const struct calendar_rule *rule, int64_t local_s)
{
    struct pattern p = pattern_of(rule);
    struct month month = month_of(day_of(local_s));
    if (floor_mod(local_s, DAY_S) != time_of_day(rule) || local_s < rule->start_s)
        return false;
    return (days_in(&p, &month) >> (day_of(local_s) - month.first) & 1) != 0;
}

/* ---- counting */

/* The next month that an interval does not step over. */
static struct month month_after(const struct pattern *p, const struct month *month)
{
    const struct calendar_rule *rule = p->rule;
    if (rule->freq == CALENDAR_MONTHLY)
        return month_move(month, rule->interval);
    if (rule->freq == CALENDAR_YEARLY && month->month == YEAR_MONTHS)
        return month_make(month->year + rule->interval, 1);
    return month_move(month, 1);
}

/* Number `count` of those that begin on `day` or later, which its interval does not step over. */
static int64_t number_from(const struct pattern *p, struct month month, int64_t day, uint32_t count)
{
    for (; month.year <= YEAR_MAX; month = month_after(p, &month)) {
        if (!has_month(p, &month))
            continue;
        uint32_t days = days_in(p, &month) & ~first_bits(day - month.first);
        uint32_t found = (uint32_t)__builtin_popcount(days);
        if (found < count) {
            count -= found;
            continue;
        }
        int64_t begin = month.first + __builtin_ctz(bit_at(days, count - 1));
        int64_t begin_s = begin * DAY_S + time_of_day(p->rule);
        return begin_s < ZONE_MAX_S ? begin_s : ZONE_EVER_S;
    }
    return ZONE_EVER_S;
}

int64_t calendar_rule_begin(const struct calendar_rule *rule, uint32_t count)
{
    struct pattern p = pattern_of(rule);
    assert(count >= 1 && count <= CALENDAR_COUNT_MAX);
    return number_from(&p, month_of(p.start), p.start, count);
}

int64_t calendar_rule_after(const struct calendar_rule *rule, int64_t local_s)
{
    struct pattern p = pattern_of(rule);
    int64_t day = day_of(local_s - time_of_day(rule)) + 1; /* begins after local_s from here on */
    if (local_s < rule->start_s)
        day = p.start;
    struct month month = month_of(day);
    while (!is_in_turn(&p, &month))
        month = month_move(&month, 1);
    return number_from(&p, month, day, 1);
}
