#include "job/time/ical_value.h"
#include "base/date.h"
#include "job/time/zone.h"

enum { DAY_S = 86400, DURATION_DAYS_MAX = 3660 };

static bool take_clock(struct str *rest, int64_t *local_s)
{
    unsigned hour;
    unsigned minute;
    unsigned second;
    if (!str_take_digits(rest, 2, &hour) || !str_take_digits(rest, 2, &minute) ||
        !str_take_digits(rest, 2, &second))
        return false;
    second = second == 60 ? 59 : second; /* a leap second; they are not counted here */
    *local_s += (int64_t)hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second < 60;
}

bool ical_time_parse(struct str text, struct ical_time *ret_time)
{
    unsigned year;
    unsigned month;
    unsigned day;
    if (!str_take_digits(&text, 4, &year) || !str_take_digits(&text, 2, &month) ||
        !str_take_digits(&text, 2, &day) || month < 1 || month > 12 || day < 1 ||
        day > date_month_days(year, month))
        return false;
    ret_time->local_s = date_to_days(year, month, day) * DAY_S;
    ret_time->kind = ICAL_DATE;
    if (!str_take_char(&text, 'T'))
        return text.len == 0;
    if (!take_clock(&text, &ret_time->local_s))
        return false;
    ret_time->kind = str_take_char(&text, 'Z') ? ICAL_UTC : ICAL_FLOATING;
    return text.len == 0;
}

/* A number of any length and its unit. */
static bool take_amount(struct str *rest, uint64_t *ret_value, char *ret_unit)
{
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9')
        len++;
    if (len == rest->len || !str_to_u64(str_of(rest->ptr, len), ret_value))
        return false;
    *ret_unit = rest->ptr[len];
    *rest = str_from(*rest, len + 1);
    return *ret_value <= DURATION_DAYS_MAX * UINT64_C(86400);
}

bool ical_duration_parse(struct str text, int64_t *ret_s)
{
    enum { HOURS = 2 };
    static const char units[] =
        "WDHMS"; /* each at most once, in this order; from H on behind a T */
    static const int64_t unit_s[] = {7 * DAY_S, DAY_S, 3600, 60, 1};
    int64_t total_s = 0;
    size_t next = 0;
    bool behind_t = false;
    (void)str_take_char(&text, '+');
    if (!str_take_char(&text, 'P') || text.len == 0)
        return false;
    while (text.len > 0) {
        uint64_t value;
        char unit;
        if (!behind_t && str_take_char(&text, 'T')) {
            behind_t = true;
            next = HOURS;
        }
        if (!take_amount(&text, &value, &unit))
            return false;
        while (next < COUNT_OF(unit_s) && units[next] != unit)
            next++;
        if (next == COUNT_OF(unit_s) || (next >= HOURS) != behind_t)
            return false;
        total_s += (int64_t)value * unit_s[next++];
    }
    *ret_s = total_s;
    return total_s <= (int64_t)DURATION_DAYS_MAX * DAY_S;
}

bool ical_offset_parse(struct str text, int32_t *ret_s)
{
    unsigned hours;
    unsigned minutes;
    unsigned seconds = 0;
    bool west = str_take_char(&text, '-');
    if (!west && !str_take_char(&text, '+'))
        return false;
    if (!str_take_digits(&text, 2, &hours) || !str_take_digits(&text, 2, &minutes) ||
        (text.len > 0 && !str_take_digits(&text, 2, &seconds)))
        return false;
    *ret_s = (int32_t)(hours * 3600 + minutes * 60 + seconds) * (west ? -1 : 1);
    return text.len == 0 && minutes < 60 && seconds < 60 && *ret_s >= ZONE_OFFSET_MIN_S &&
           *ret_s <= ZONE_OFFSET_MAX_S;
}
