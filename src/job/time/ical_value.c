#include "job/time/ical_value.h"
#include "base/date.h"

enum { DAY_S = 86400, DURATION_DAYS_MAX = 3660 };

/* ---- times */

static bool take_clock(struct str *rest, int64_t *local_s)
{
    unsigned hour;
    unsigned minute;
    unsigned second;
    if (!str_take_digits(rest, 2, &hour) || !str_take_digits(rest, 2, &minute) ||
        !str_take_digits(rest, 2, &second))
        return false;
    second = second == 60 ? 59 : second; /* a leap second; nobody counts them here */
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

/* ---- rules */

/* A rule being read. */
struct reader {
    const struct ical_time *start;
    struct ical_rule *out;
    unsigned weekdays; /* of BYDAY */
    int nth;           /* before the only one of them */
    unsigned weekday;
    unsigned by_month;
    unsigned by_month_day;
    bool has_freq;
    struct err *err;
};

static bool weekday_parse(struct str text, unsigned *ret_weekday)
{
    static const char names[] = "SUMOTUWETHFRSA";
    for (unsigned i = 0; i < 7; i++) {
        if (str_eq_nocase(text, str_of(names + (size_t)i * 2, 2))) {
            *ret_weekday = i;
            return true;
        }
    }
    return false;
}

static enum rc number_parse(struct reader *r, struct str key, struct str text, unsigned max,
                            unsigned *ret_value)
{
    uint64_t value;
    if (!str_to_u64(text, &value) || value < 1 || value > max)
        return err_set(r->err, RC_INVALID, "%.*s must be a number from 1 to %u", STR_ARG(key), max);
    *ret_value = (unsigned)value;
    return RC_OK;
}

static enum rc read_freq(struct reader *r, struct str text)
{
    static const char *const names[] = {"DAILY", "WEEKLY", "YEARLY"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_eq_nocase(text, str_c(names[i]))) {
            r->out->rule.freq = (enum calendar_freq)i;
            r->has_freq = true;
            return RC_OK;
        }
    }
    return err_set(r->err, RC_INVALID, "FREQ must be one of DAILY, WEEKLY and YEARLY here");
}

/* "MO,TU", or "4TH", "-1MO". */
static enum rc read_by_day(struct reader *r, struct str list)
{
    while (list.ptr != NULL) {
        struct str item = str_cut(&list, ',');
        size_t prefix = item.len < 2 ? 0 : item.len - 2;
        struct str number = str_of(item.ptr, prefix);
        int64_t nth = 0;
        (void)(number.len > 1 && str_take_char(&number, '+'));
        if (!weekday_parse(str_from(item, prefix), &r->weekday) ||
            (prefix > 0 && (!str_to_i64(number, &nth) || nth == 0 || nth < -5 || nth > 5)))
            return err_set(r->err, RC_INVALID, "BYDAY takes days as in MO,TU or 4TH or -1MO");
        if (nth != 0 && (r->weekdays != 0 || list.ptr != NULL))
            return err_set(r->err, RC_INVALID, "BYDAY with a number is understood alone only");
        r->nth = (int)nth;
        r->weekdays |= 1U << r->weekday;
    }
    return RC_OK;
}

static enum rc read_until(struct reader *r, struct str text)
{
    r->out->has_until = true;
    if (ical_time_parse(text, &r->out->until))
        return RC_OK;
    return err_set(r->err, RC_INVALID, "UNTIL must be a time as in 20261231T235959Z");
}

static enum rc read_part(struct reader *r, struct str key, struct str value)
{
    struct calendar_rule *rule = &r->out->rule;
    if (str_eq_nocase(key, STR("FREQ")))
        return read_freq(r, value);
    if (str_eq_nocase(key, STR("INTERVAL")))
        return number_parse(r, key, value, CALENDAR_INTERVAL_MAX, &rule->interval);
    if (str_eq_nocase(key, STR("COUNT")))
        return number_parse(r, key, value, CALENDAR_COUNT_MAX, &r->out->count);
    if (str_eq_nocase(key, STR("UNTIL")))
        return read_until(r, value);
    if (str_eq_nocase(key, STR("BYDAY")))
        return read_by_day(r, value);
    if (str_eq_nocase(key, STR("BYMONTH")))
        return number_parse(r, key, value, 12, &r->by_month);
    if (str_eq_nocase(key, STR("BYMONTHDAY")))
        return number_parse(r, key, value, 31, &r->by_month_day);
    if (str_eq_nocase(key, STR("WKST")) && weekday_parse(value, &rule->week_from))
        return RC_OK;
    return err_set(r->err, RC_INVALID, "%.*s=%.*s is not understood", STR_ARG(str_head(key, 40)),
                   STR_ARG(str_head(value, 40)));
}

/* On a date, which is DTSTART's, or on the nth weekday of a month. */
static enum rc settle_yearly(struct reader *r, struct date start)
{
    struct calendar_rule *rule = &r->out->rule;
    unsigned month = r->by_month != 0 ? r->by_month : start.month;
    unsigned day = r->by_month_day != 0 ? r->by_month_day : start.day;
    if (r->nth != 0 && r->by_month != 0 && r->by_month_day == 0) {
        rule->month = month;
        rule->nth = r->nth;
        rule->weekday = r->weekday;
        return RC_OK;
    }
    if (r->weekdays == 0 && month == start.month && day == start.day)
        return RC_OK;
    return err_set(
        r->err, RC_INVALID,
        "FREQ=YEARLY is understood on the date of DTSTART, or as in BYMONTH=11;BYDAY=4TH");
}

static enum rc settle(struct reader *r)
{
    struct calendar_rule *rule = &r->out->rule;
    int64_t days = r->start->local_s / DAY_S - (r->start->local_s % DAY_S < 0);
    if (!r->has_freq)
        return err_set(r->err, RC_INVALID, "FREQ is missing");
    if (r->out->has_until && r->out->count > 0)
        return err_set(r->err, RC_INVALID, "COUNT and UNTIL exclude each other");
    if (rule->freq == CALENDAR_YEARLY)
        return settle_yearly(r, date_from_days(days));
    if (r->by_month != 0 || r->by_month_day != 0 || r->nth != 0)
        return err_set(r->err, RC_INVALID,
                       "BYMONTH, BYMONTHDAY and numbers in BYDAY are understood "
                       "with FREQ=YEARLY only");
    if (rule->freq == CALENDAR_DAILY && r->weekdays != 0) {
        if (rule->interval != 1)
            return err_set(r->err, RC_INVALID, "BYDAY is not understood beside a daily INTERVAL");
        rule->freq = CALENDAR_WEEKLY; /* every day that is one of these */
    }
    rule->weekdays = r->weekdays != 0 ? r->weekdays : 1U << date_weekday(days);
    return RC_OK;
}

enum rc ical_rule_parse(struct str text, const struct ical_time *start, struct ical_rule *ret_rule,
                        struct err *err)
{
    struct reader r = {.start = start, .out = ret_rule, .err = err};
    *ret_rule = (struct ical_rule){.rule = {.interval = 1, .week_from = 1}};
    while (text.ptr != NULL) {
        struct str value = str_cut(&text, ';');
        struct str key = str_cut(&value, '=');
        TRY(read_part(&r, key, value));
    }
    return settle(&r);
}
