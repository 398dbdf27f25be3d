#include "job/time/ical_rule.h"

enum { DAY_S = 86400, NTH_MAX = 53, POSITION_MAX = 366 };

/* A rule being read. */
struct reader {
    const struct ical_time *start;
    struct ical_rule *out;
    unsigned seen; /* a bit for each part */
    struct err *err;
};

typedef enum rc read_value(struct reader *r, struct str key, struct str value);

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

/* "+2" as well as "2"; neither 0 nor further from it than max. */
static bool signed_parse(struct str text, int64_t max, int64_t *ret_value)
{
    (void)(text.len > 1 && str_take_char(&text, '+'));
    return str_to_i64(text, ret_value) && *ret_value != 0 && *ret_value >= -max &&
           *ret_value <= max;
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

/* ---- the parts */

static enum rc read_freq(struct reader *r, struct str key, struct str text)
{
    static const char *const names[] = {"DAILY", "WEEKLY", "MONTHLY", "YEARLY"};
    (void)key;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_eq_nocase(text, str_c(names[i]))) {
            r->out->rule.freq = (enum calendar_freq)i;
            return RC_OK;
        }
    }
    return err_set(r->err, RC_INVALID,
                   "FREQ must be one of DAILY, WEEKLY, MONTHLY and YEARLY here");
}

static enum rc read_interval(struct reader *r, struct str key, struct str text)
{
    return number_parse(r, key, text, CALENDAR_INTERVAL_MAX, &r->out->rule.interval);
}

static enum rc read_count(struct reader *r, struct str key, struct str text)
{
    return number_parse(r, key, text, CALENDAR_COUNT_MAX, &r->out->count);
}

static enum rc read_until(struct reader *r, struct str key, struct str text)
{
    (void)key;
    r->out->has_until = true;
    if (ical_time_parse(text, &r->out->until))
        return RC_OK;
    return err_set(r->err, RC_INVALID, "UNTIL must be a time as in 20261231T235959Z");
}

static enum rc read_week_start(struct reader *r, struct str key, struct str text)
{
    (void)key;
    if (weekday_parse(text, &r->out->rule.week_from))
        return RC_OK;
    return err_set(r->err, RC_INVALID, "WKST must be a day as in MO");
}

/* "MO,TU", or "4TH,-1MO". */
static enum rc read_by_day(struct reader *r, struct str key, struct str list)
{
    struct calendar_rule *rule = &r->out->rule;
    (void)key;
    while (list.ptr != NULL) {
        struct str item = str_cut(&list, ',');
        size_t prefix = item.len < 2 ? 0 : item.len - 2;
        int64_t nth = 0;
        unsigned weekday;
        if (!weekday_parse(str_from(item, prefix), &weekday) ||
            (prefix > 0 && !signed_parse(str_of(item.ptr, prefix), NTH_MAX, &nth)))
            return err_set(r->err, RC_INVALID, "BYDAY takes days as in MO,TU or 4TH or -1MO");
        if (nth == 0) {
            rule->weekdays |= 1U << weekday;
            continue;
        }
        if (rule->nth_count == CALENDAR_NTHS_MAX)
            return err_set(r->err, RC_INVALID, "BYDAY takes at most %d days with a number",
                           CALENDAR_NTHS_MAX);
        rule->nths[rule->nth_count++] = (struct calendar_nth){(int8_t)nth, (uint8_t)weekday};
    }
    return RC_OK;
}

static enum rc read_by_month(struct reader *r, struct str key, struct str list)
{
    while (list.ptr != NULL) {
        unsigned month = 0;
        TRY(number_parse(r, key, str_cut(&list, ','), 12, &month));
        r->out->rule.months |= 1U << month;
    }
    return RC_OK;
}

static enum rc read_by_month_day(struct reader *r, struct str key, struct str list)
{
    (void)key;
    while (list.ptr != NULL) {
        int64_t day;
        if (!signed_parse(str_cut(&list, ','), 31, &day))
            return err_set(r->err, RC_INVALID,
                           "BYMONTHDAY takes numbers from 1 to 31 and from -31 to -1");
        if (day > 0)
            r->out->rule.month_days |= UINT32_C(1) << day;
        else
            r->out->rule.last_days |= UINT32_C(1) << -day;
    }
    return RC_OK;
}

static enum rc read_by_position(struct reader *r, struct str key, struct str list)
{
    struct calendar_rule *rule = &r->out->rule;
    (void)key;
    while (list.ptr != NULL) {
        int64_t position;
        if (!signed_parse(str_cut(&list, ','), POSITION_MAX, &position) ||
            rule->position_count == CALENDAR_POSITIONS_MAX)
            return err_set(r->err, RC_INVALID,
                           "BYSETPOS takes at most %d numbers from 1 to %d and from -%d to -1",
                           CALENDAR_POSITIONS_MAX, POSITION_MAX, POSITION_MAX);
        rule->positions[rule->position_count++] = (int16_t)position;
    }
    return RC_OK;
}

/* All occurrences of a day begin at the time of DTSTART. */
static enum rc read_time_part(struct reader *r, struct str key, struct str text)
{
    int64_t of_day = (r->start->local_s % DAY_S + DAY_S) % DAY_S;
    int64_t hour = of_day / 3600;
    int64_t minute = of_day / 60 % 60;
    int64_t want = str_eq_nocase(key, STR("BYHOUR"))     ? hour
                   : str_eq_nocase(key, STR("BYMINUTE")) ? minute
                                                         : of_day % 60;
    int64_t said;
    if (str_to_i64(text, &said) && said == want)
        return RC_OK;
    return err_set(r->err, RC_INVALID, "%.*s=%.*s is another time than DTSTART's", STR_ARG(key),
                   STR_ARG(str_head(text, 40)));
}

static const struct part {
    const char *key;
    read_value *read;
} parts[] = {
    {"FREQ", read_freq},        {"INTERVAL", read_interval},       {"COUNT", read_count},
    {"UNTIL", read_until},      {"WKST", read_week_start},         {"BYDAY", read_by_day},
    {"BYMONTH", read_by_month}, {"BYMONTHDAY", read_by_month_day}, {"BYSETPOS", read_by_position},
    {"BYHOUR", read_time_part}, {"BYMINUTE", read_time_part},      {"BYSECOND", read_time_part},
};

static enum rc read_part(struct reader *r, struct str key, struct str value)
{
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (!str_eq_nocase(key, str_c(parts[i].key)))
            continue;
        if ((r->seen >> i & 1) != 0)
            return err_set(r->err, RC_INVALID, "%s is there twice", parts[i].key);
        r->seen |= 1U << i;
        return parts[i].read(r, key, value);
    }
    return err_set(r->err, RC_INVALID, "%.*s=%.*s is not understood", STR_ARG(str_head(key, 40)),
                   STR_ARG(str_head(value, 40)));
}

/* ---- what goes together */

static enum rc check(struct reader *r)
{
    const struct calendar_rule *rule = &r->out->rule;
    bool has_date = rule->month_days != 0 || rule->last_days != 0;
    bool has_day = rule->weekdays != 0 || rule->nth_count > 0;
    if ((r->seen & 1) == 0)
        return err_set(r->err, RC_INVALID, "FREQ is missing");
    if (r->out->has_until && r->out->count > 0)
        return err_set(r->err, RC_INVALID, "COUNT and UNTIL exclude each other");
    if (rule->freq < CALENDAR_MONTHLY && rule->nth_count > 0)
        return err_set(r->err, RC_INVALID,
                       "numbers in BYDAY are for FREQ=MONTHLY and FREQ=YEARLY only");
    if (rule->freq == CALENDAR_WEEKLY && has_date)
        return err_set(r->err, RC_INVALID, "BYMONTHDAY is not for FREQ=WEEKLY");
    if (rule->freq < CALENDAR_MONTHLY && rule->position_count > 0)
        return err_set(r->err, RC_INVALID,
                       "BYSETPOS is understood with FREQ=MONTHLY and FREQ=YEARLY only");
    if (rule->position_count > 0 && !has_date && !has_day && rule->months == 0)
        return err_set(r->err, RC_INVALID, "BYSETPOS needs another part that begins with BY");
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
        if (key.len > 0 || value.ptr != NULL) /* some programs end a rule with a semicolon */
            TRY(read_part(&r, key, value));
    }
    return check(&r);
}
