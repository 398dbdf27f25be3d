#include "base/when.h"
#include "base/buf.h"
#include "base/date.h"

#define DAY_MS INT64_C(86400000)

/* By hand, since lists and replies are full of times and snprintf takes ten times as long. */
static char *add_digits(char *to, int64_t value, int count, char behind)
{
    for (int i = count - 1; i >= 0; i--) {
        to[i] = (char)('0' + value % 10);
        value /= 10;
    }
    to[count] = behind;
    return to + count + 1;
}

struct str when_format(char *ret_text, int64_t at_ms)
{
    at_ms = at_ms < WHEN_MIN_MS ? WHEN_MIN_MS : at_ms > WHEN_MAX_MS ? WHEN_MAX_MS : at_ms;
    int64_t days = at_ms / DAY_MS - (at_ms % DAY_MS < 0);
    int64_t ms = at_ms - days * DAY_MS;
    struct date date = date_from_days(days);
    char *to = add_digits(ret_text, date.year, 4, '-');
    to = add_digits(to, date.month, 2, '-');
    to = add_digits(to, date.day, 2, 'T');
    to = add_digits(to, ms / 3600000, 2, ':');
    to = add_digits(to, ms / 60000 % 60, 2, ':');
    to = add_digits(to, ms / 1000 % 60, 2, '.');
    to = add_digits(to, ms % 1000, 3, 'Z');
    *to = '\0';
    return str_of(ret_text, (size_t)(to - ret_text));
}

struct str when_format_local(char *ret_text, int64_t at_ms, int32_t offset_s)
{
    int32_t minutes = offset_s / 60;
    struct str text = when_format(ret_text, at_ms + (int64_t)minutes * 60000);
    char *to = ret_text + text.len - 1; /* where the Z is */
    *to++ = minutes < 0 ? '-' : '+';
    minutes = minutes < 0 ? -minutes : minutes;
    to = add_digits(to, minutes / 60, 2, ':');
    to = add_digits(to, minutes % 60, 2, '\0') - 1;
    return str_of(ret_text, (size_t)(to - ret_text));
}

/* Takes exactly `count` digits off the front of *rest; -1 when they are not there. */
static int64_t take_digits(struct str *rest, size_t count)
{
    uint64_t value;
    if (rest->len < count || !str_to_u64(str_of(rest->ptr, count), &value))
        return -1;
    *rest = str_from(*rest, count);
    return (int64_t)value;
}

static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c)
        return false;
    *rest = str_from(*rest, 1);
    return true;
}

static bool take_date(struct str *rest, int64_t *ret_days)
{
    int64_t year = take_digits(rest, 4);
    bool ok = take_char(rest, '-');
    int64_t month = take_digits(rest, 2);
    ok = ok && take_char(rest, '-');
    int64_t day = take_digits(rest, 2);
    if (!ok || year < 0 || month < 1 || month > 12 || day < 1)
        return false;
    if (day > date_month_days(year, (unsigned)month))
        return false;
    *ret_days = date_to_days(year, (unsigned)month, (unsigned)day);
    return true;
}

static bool take_time(struct str *rest, int64_t *ret_ms)
{
    int64_t hour = take_digits(rest, 2);
    bool ok = take_char(rest, ':');
    int64_t minute = take_digits(rest, 2);
    ok = ok && take_char(rest, ':');
    int64_t second = take_digits(rest, 2);
    if (!ok || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    int64_t ms = 0;
    if (take_char(rest, '.')) {
        int64_t unit = 100;
        size_t count = 0;
        for (; rest->len > 0 && rest->ptr[0] >= '0' && rest->ptr[0] <= '9'; count++) {
            ms += (rest->ptr[0] - '0') * unit; /* beyond milliseconds the unit is zero */
            unit /= 10;
            *rest = str_from(*rest, 1);
        }
        if (count == 0)
            return false;
    }
    *ret_ms = ((hour * 60 + minute) * 60 + second) * 1000 + ms;
    return true;
}

static bool take_offset(struct str *rest, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (take_char(rest, 'Z') || take_char(rest, 'z'))
        return true;
    int64_t sign = take_char(rest, '+') ? 1 : take_char(rest, '-') ? -1 : 0;
    int64_t hour = take_digits(rest, 2);
    bool ok = take_char(rest, ':');
    int64_t minute = take_digits(rest, 2);
    if (sign == 0 || !ok || hour < 0 || hour > 23 || minute < 0 || minute > 59)
        return false;
    *ret_ms = sign * (hour * 60 + minute) * 60000;
    return true;
}

enum rc when_parse(struct str text, int64_t *ret_ms, struct err *err)
{
    struct str rest = text;
    int64_t days;
    int64_t time_ms;
    int64_t offset_ms;
    bool ok = take_date(&rest, &days) &&
              (take_char(&rest, 'T') || take_char(&rest, 't') || take_char(&rest, ' ')) &&
              take_time(&rest, &time_ms) && take_offset(&rest, &offset_ms) && rest.len == 0;
    int64_t at_ms = ok ? days * DAY_MS + time_ms - offset_ms : 0;
    /* An offset may lead out of the years that can be written. */
    if (!ok || at_ms < WHEN_MIN_MS || at_ms > WHEN_MAX_MS)
        return err_set(err, RC_INVALID,
                       "'%.*s' is not a time: expected RFC 3339 as in 2026-11-16T03:00:00Z",
                       text.len > 64 ? 64 : (int)text.len, text.ptr);
    *ret_ms = at_ms;
    return RC_OK;
}

static const struct {
    struct str name;
    int64_t ms;
} units[] = {
    {STR_INIT("w"), 7 * DAY_MS}, {STR_INIT("d"), DAY_MS}, {STR_INIT("h"), 3600000},
    {STR_INIT("m"), 60000},      {STR_INIT("s"), 1000},   {STR_INIT("ms"), 1},
};

/* The index of the unit called name, or COUNT_OF(units). */
static size_t find_unit(struct str name)
{
    size_t i = 0;
    while (i < COUNT_OF(units) && !str_eq(units[i].name, name))
        i++;
    return i;
}

/* Takes one number and its unit, which must be smaller than the one before. */
static bool take_part(struct str *rest, size_t *unit, int64_t *sum_ms)
{
    size_t digits = 0;
    while (digits < rest->len && rest->ptr[digits] >= '0' && rest->ptr[digits] <= '9')
        digits++;
    size_t end = digits;
    while (end < rest->len && (rest->ptr[end] < '0' || rest->ptr[end] > '9'))
        end++;
    int64_t value;
    size_t found = find_unit(str_of(rest->ptr + digits, end - digits));
    if (!str_to_i64(str_of(rest->ptr, digits), &value) || found == COUNT_OF(units) ||
        found < *unit || __builtin_mul_overflow(value, units[found].ms, &value) ||
        __builtin_add_overflow(*sum_ms, value, sum_ms))
        return false;
    *unit = found + 1;
    *rest = str_from(*rest, end);
    return true;
}

enum rc duration_parse(struct str text, int64_t *ret_ms, struct err *err)
{
    struct str rest = text;
    int64_t sum_ms = 0;
    size_t unit = 0;
    bool ok = text.len > 0;
    while (ok && rest.len > 0)
        ok = take_part(&rest, &unit, &sum_ms);
    if (!ok)
        return err_set(err, RC_INVALID,
                       "'%.*s' is not a duration: expected a number with a unit as in 90s, 15m, "
                       "1h30m or 2d",
                       text.len > 64 ? 64 : (int)text.len, text.ptr);
    *ret_ms = sum_ms;
    return RC_OK;
}

struct str duration_format(char *ret_text, int64_t ms)
{
    struct buf out = {.ptr = ret_text, .cap = WHEN_TEXT_MAX - 1, .max = WHEN_TEXT_MAX - 1};
    for (size_t i = 1; i < COUNT_OF(units); i++) { /* weeks read badly: "21d" is clear */
        if (ms / units[i].ms == 0)
            continue;
        buf_add_i64(&out, ms / units[i].ms);
        buf_add(&out, units[i].name);
        ms %= units[i].ms;
    }
    if (out.len == 0)
        buf_add(&out, STR("0s"));
    ret_text[out.len] = '\0';
    return buf_str(&out);
}
