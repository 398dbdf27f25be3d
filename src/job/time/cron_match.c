#include "job/time/cron_match.h"
#include "base/date.h"

#include <assert.h>

enum { DAY_S = 86400, MONDAY = 1, FRIDAY = 5 };

#define BIT(n) (UINT64_C(1) << (n))

/* ---- days */

/* A month as far as weekdays care. */
struct month {
    unsigned first_weekday;
    unsigned days;
};

static struct month month_of(int64_t year, unsigned month)
{
    struct month m = {
        .first_weekday = date_weekday(date_to_days(year, month, 1)),
        .days = date_month_days(year, month),
    };
    assert(m.days >= 28 && m.days <= 31);
    return m;
}

static unsigned weekday_of(const struct month *m, unsigned day)
{
    return (m->first_weekday + day - 1) % 7;
}

/* The working day nearest to `day`, without leaving the month: from a Saturday back to Friday, from
 * a Sunday on to Monday, and two days the other way where that would be another month. */
static unsigned nearest_working_day(const struct month *m, unsigned day)
{
    switch (weekday_of(m, day)) {
    case DATE_SATURDAY: return day > 1 ? day - 1 : day + 2;
    case DATE_SUNDAY: return day < m->days ? day + 1 : day - 2;
    default: return day;
    }
}

static uint32_t near_days(const struct cron *cron, const struct month *m)
{
    uint32_t found = 0;
    for (unsigned day = 1; day <= m->days; day++) {
        if (cron->near_days >> day & 1)
            found |= (uint32_t)BIT(nearest_working_day(m, day));
    }
    return found;
}

static unsigned last_working_day(const struct month *m)
{
    unsigned weekday = weekday_of(m, m->days);
    return m->days - (weekday == DATE_SUNDAY ? 2 : weekday == DATE_SATURDAY ? 1 : 0);
}

/* FRI#2 and FRIL. */
static uint32_t counted_weekdays(const struct cron *cron, const struct month *m)
{
    uint32_t found = 0;
    for (unsigned weekday = 0; weekday < 7; weekday++) {
        unsigned first = 1 + (weekday + 7 - m->first_weekday) % 7;
        unsigned last = first + (m->days - first) / 7 * 7;
        for (unsigned nth = 1, day = first; day <= m->days; nth++, day += 7) {
            if (cron->nth_weekdays[weekday] >> nth & 1)
                found |= (uint32_t)BIT(day);
        }
        if (cron->last_weekdays >> weekday & 1)
            found |= (uint32_t)BIT(last);
    }
    return found;
}

static bool counts_weekdays(const struct cron *cron)
{
    uint8_t any = cron->last_weekdays;
    for (unsigned weekday = 0; weekday < 7; weekday++)
        any |= cron->nth_weekdays[weekday];
    return any != 0;
}

uint32_t cron_days_of_month(const struct cron *cron, int64_t year, unsigned month)
{
    struct month m = month_of(year, month);
    uint32_t all = (uint32_t)(BIT(m.days + 1) - 2);
    uint32_t by_day = cron->days & all;
    if (cron->near_days != 0)
        by_day |= near_days(cron, &m);
    if (cron->last_day)
        by_day |= (uint32_t)BIT(m.days);
    if (cron->last_working_day)
        by_day |= (uint32_t)BIT(last_working_day(&m));
    /* The week, six times in a row, moved so that bit 1 is the month's first day. */
    uint64_t weeks = cron->weekdays * (BIT(0) | BIT(7) | BIT(14) | BIT(21) | BIT(28) | BIT(35));
    uint32_t by_weekday = (uint32_t)(weeks >> m.first_weekday << 1) & all;
    if (counts_weekdays(cron))
        by_weekday |= counted_weekdays(cron, &m);
    return cron->days_and ? by_day & by_weekday : by_day | by_weekday;
}

/* The first day that matches, this one or later, as days since 1970; CRON_NEVER when there is
 * none. */
static int64_t match_day(const struct cron *cron, int64_t days)
{
    struct date date = date_from_days(days);
    uint32_t late = ~(uint32_t)0 << date.day; /* this month's past does not count */
    while (date.year < 10000) {
        uint32_t months = (uint32_t)cron->months >> date.month;
        if (months == 0) {
            date = (struct date){date.year + 1, 1, 1};
            late = ~(uint32_t)0;
            continue;
        }
        if ((months & 1) == 0) {
            date.month += (unsigned)__builtin_ctz(months);
            late = ~(uint32_t)0;
        }
        uint32_t found = cron_days_of_month(cron, date.year, date.month) & late;
        if (found != 0)
            return date_to_days(date.year, date.month, (unsigned)__builtin_ctz(found));
        date.month++; /* the thirteenth has no bit, and becomes the next year's first */
        late = ~(uint32_t)0;
    }
    return CRON_NEVER;
}

/* ---- times of day */

/* The lowest bit at or above from; 64 when there is none. */
static unsigned next_bit(uint64_t set, unsigned from)
{
    uint64_t rest = from > 63 ? 0 : set >> from << from;
    return rest == 0 ? 64 : (unsigned)__builtin_ctzll(rest);
}

/* The first time of day that matches, at second_of_day or later; DAY_S when there is none. */
static int64_t match_time(const struct cron *cron, int64_t second_of_day)
{
    unsigned hour = (unsigned)(second_of_day / 3600);
    unsigned minute = (unsigned)(second_of_day / 60 % 60);
    unsigned second = next_bit(cron->seconds, (unsigned)(second_of_day % 60));
    bool hour_fits = cron->hours >> hour & 1;
    bool minute_fits = hour_fits && (cron->minutes >> minute & 1) != 0;
    if (!minute_fits || second == 64) {
        second = next_bit(cron->seconds, 0);
        minute = hour_fits ? next_bit(cron->minutes, minute + (minute_fits ? 1 : 0)) : 64;
        if (minute == 64) {
            minute = next_bit(cron->minutes, 0);
            hour = next_bit(cron->hours, hour + (hour_fits ? 1 : 0));
        }
    }
    return hour == 64 ? DAY_S : (int64_t)hour * 3600 + minute * 60 + second;
}

static unsigned count_bits_below(uint64_t set, unsigned bit)
{
    return (unsigned)__builtin_popcountll(set & (BIT(bit) - 1));
}

/* How many times of a day match before second_of_day, which may be DAY_S. */
static uint64_t times_before(const struct cron *cron, int64_t second_of_day)
{
    unsigned hour = (unsigned)(second_of_day / 3600);
    unsigned minute = (unsigned)(second_of_day / 60 % 60);
    uint64_t seconds = (unsigned)__builtin_popcountll(cron->seconds);
    uint64_t minutes = (unsigned)__builtin_popcountll(cron->minutes);
    uint64_t count = count_bits_below(cron->hours, hour) * minutes * seconds;
    if ((cron->hours >> hour & 1) == 0)
        return count;
    count += count_bits_below(cron->minutes, minute) * seconds;
    if ((cron->minutes >> minute & 1) != 0)
        count += count_bits_below(cron->seconds, (unsigned)(second_of_day % 60));
    return count;
}

/* ---- both */

static int64_t day_part(int64_t local_s)
{
    return local_s / DAY_S - (local_s % DAY_S < 0);
}

int64_t cron_match(const struct cron *cron, int64_t local_s)
{
    if (local_s < ZONE_MIN_S)
        local_s = ZONE_MIN_S;
    if (local_s >= ZONE_MAX_S)
        return CRON_NEVER;
    int64_t today = day_part(local_s);
    int64_t day = match_day(cron, today);
    if (day == today) {
        int64_t time_s = match_time(cron, local_s - today * DAY_S);
        if (time_s < DAY_S)
            return day * DAY_S + time_s;
        day = match_day(cron, today + 1);
    }
    return day == CRON_NEVER ? CRON_NEVER : day * DAY_S + match_time(cron, 0);
}

/* How many days match in [from_day, to_day). One step for each month. */
static uint64_t count_days(const struct cron *cron, int64_t from_day, int64_t to_day)
{
    struct date at = date_from_days(from_day);
    struct date end = date_from_days(to_day);
    uint32_t late = ~(uint32_t)0 << at.day;
    uint64_t count = 0;
    while (at.year < end.year || (at.year == end.year && at.month <= end.month)) {
        bool is_last = at.year == end.year && at.month == end.month;
        uint32_t early = is_last ? (uint32_t)BIT(end.day) - 1 : ~(uint32_t)0;
        if ((cron->months >> at.month & 1) != 0)
            count += (unsigned)__builtin_popcount(cron_days_of_month(cron, at.year, at.month) &
                                                  late & early);
        late = ~(uint32_t)0;
        at.year += at.month == 12;
        at.month = at.month == 12 ? 1 : at.month + 1;
    }
    return count;
}

uint64_t cron_match_count(const struct cron *cron, int64_t from_s, int64_t to_s)
{
    from_s = from_s < ZONE_MIN_S ? ZONE_MIN_S : from_s;
    to_s = to_s > ZONE_MAX_S ? ZONE_MAX_S : to_s;
    if (from_s >= to_s)
        return 0;
    int64_t first = day_part(from_s);
    int64_t last = day_part(to_s);
    uint64_t per_day = times_before(cron, DAY_S);
    uint64_t count = count_days(cron, first, last) * per_day;
    if (match_day(cron, first) == first)
        count -= times_before(cron, from_s - first * DAY_S);
    if (match_day(cron, last) == last)
        count += times_before(cron, to_s - last * DAY_S);
    return count;
}

int64_t cron_match_last(const struct cron *cron, int64_t from_s, int64_t to_s)
{
    int64_t found = cron_match(cron, from_s);
    if (found >= to_s)
        return CRON_NEVER;
    int64_t behind = to_s; /* nothing in [behind, to_s) matches */
    while (behind - found > 1) {
        int64_t middle = found + (behind - found) / 2;
        int64_t next = cron_match(cron, middle);
        if (next < to_s)
            found = next;
        else
            behind = middle;
    }
    return found;
}
