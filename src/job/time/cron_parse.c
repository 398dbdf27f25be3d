#include "base/rng.h"
#include "base/when.h"
#include "job/time/cron_match.h"

#include <assert.h>

enum { EVERY_MIN_MS = 1000, QUOTE_BYTES = 40, H_DAY_MAX = 28 /* exists in every month */ };

enum field_id { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

struct field_kind {
    const char *name;
    unsigned min;
    unsigned max;      /* of what a star covers */
    unsigned max_said; /* of what may be written: 7 is Sunday too */
    const char *words; /* three letters each, the first one stands for min; NULL: none */
};

static const struct field_kind kinds[FIELDS] = {
    [SECOND] = {"second", 0, 59, 59, NULL},
    [MINUTE] = {"minute", 0, 59, 59, NULL},
    [HOUR] = {"hour", 0, 23, 23, NULL},
    [DAY] = {"day of month", 1, 31, 31, NULL},
    [MONTH] = {"month", 1, 12, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
    [WEEKDAY] = {"day of week", 0, 6, 7, "SUNMONTUEWEDTHUFRISAT"},
};

/* One field being read. */
struct reader {
    enum field_id id;
    const struct field_kind *kind;
    struct str item; /* of the list: "MON-FRI/2" */
    struct str rest; /* of the item */
    uint64_t seed;   /* for H */
    struct cron *cron;
    struct err *err;
};

/* One item, once it is clear that it is a range. */
struct range {
    unsigned from;
    unsigned to;
    unsigned step;
};

static enum rc refuse(const struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "minute: 61 is not between 0 and 59" */
static enum rc refuse(const struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)err_vset(r->err, RC_INVALID, format, args);
    va_end(args);
    return err_note(r->err, "%s", r->kind->name);
}

/* Printable, and not longer than somebody reads; text holds QUOTE_BYTES. */
static const char *quote(struct str s, char *text)
{
    size_t len = s.len < QUOTE_BYTES - 4 ? s.len : QUOTE_BYTES - 4;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)(s.ptr[i] >= ' ' && s.ptr[i] <= '~' ? s.ptr[i] : '?');
    for (size_t dots = 0; len < s.len && dots < 3; dots++)
        text[len + dots] = '.';
    text[len < s.len ? len + 3 : len] = '\0';
    return text;
}

static enum rc refuse_item(const struct reader *r, const char *why)
{
    char text[QUOTE_BYTES];
    return refuse(r, "'%s' %s", quote(r->item, text), why);
}

/* ---- pieces of an item */

static bool take_char(struct reader *r, char c)
{
    if (r->rest.len == 0 || r->rest.ptr[0] != c)
        return false;
    r->rest = str_from(r->rest, 1);
    return true;
}

/* A letter, in either case. */
static bool take_letter(struct reader *r, char upper)
{
    return take_char(r, upper) || take_char(r, (char)(upper - 'A' + 'a'));
}

static enum rc take_number(struct reader *r, unsigned *ret_value)
{
    uint64_t value;
    size_t len = 0;
    while (len < r->rest.len && r->rest.ptr[len] >= '0' && r->rest.ptr[len] <= '9')
        len++;
    if (len == 0)
        return refuse_item(r, "is not understood");
    if (!str_to_u64(str_of(r->rest.ptr, len), &value) || value > 1000000)
        value = 1000000; /* out of every range */
    r->rest = str_from(r->rest, len);
    *ret_value = (unsigned)value;
    return RC_OK;
}

/* The name at the front; false when there is none. */
static bool take_word(struct reader *r, unsigned *ret_value)
{
    struct str words = str_c(r->kind->words);
    for (unsigned i = 0; r->rest.len >= 3 && i * 3 < words.len; i++) {
        if (str_eq_nocase(str_of(words.ptr + (size_t)i * 3, 3), str_of(r->rest.ptr, 3))) {
            *ret_value = r->kind->min + i;
            r->rest = str_from(r->rest, 3);
            return true;
        }
    }
    return false;
}

static enum rc take_value(struct reader *r, unsigned *ret_value)
{
    if (take_word(r, ret_value))
        return RC_OK;
    TRY(take_number(r, ret_value));
    if (*ret_value >= r->kind->min && *ret_value <= r->kind->max_said)
        return RC_OK;
    return refuse(r, "%u is not between %u and %u", *ret_value, r->kind->min, r->kind->max_said);
}

/* "/n", when it is there. A step that leaves one value is a slip: nobody means minute 0 by a star
 * and 90. */
static enum rc take_step(struct reader *r, unsigned *ret_step)
{
    *ret_step = 1;
    if (!take_char(r, '/'))
        return RC_OK;
    TRY(take_number(r, ret_step));
    if (*ret_step >= 1 && *ret_step <= r->kind->max_said)
        return RC_OK;
    return refuse(r, "a step must be between 1 and %u, not %u: it counts within the field",
                  r->kind->max_said, *ret_step);
}

/* ---- what goes into the expression */

static void add_value(struct reader *r, unsigned value)
{
    switch (r->id) {
    case SECOND: r->cron->seconds |= UINT64_C(1) << value; break;
    case MINUTE: r->cron->minutes |= UINT64_C(1) << value; break;
    case HOUR: r->cron->hours |= UINT32_C(1) << value; break;
    case DAY: r->cron->days |= UINT32_C(1) << value; break;
    case MONTH: r->cron->months |= (uint16_t)(1U << value); break;
    default: r->cron->weekdays |= (uint8_t)(1U << value % 7); break;
    }
}

static void add_range(struct reader *r, const struct range *range)
{
    for (unsigned value = range->from; value <= range->to; value += range->step)
        add_value(r, value);
}

static enum rc end_item(struct reader *r, const struct range *range)
{
    if (r->rest.len > 0)
        return refuse_item(r, "is not understood");
    add_range(r, range);
    return RC_OK;
}

/* "*", or in day fields "?", with or without a step. */
static enum rc read_star(struct reader *r)
{
    struct range range = {.from = r->kind->min, .to = r->kind->max};
    TRY(take_step(r, &range.step));
    return end_item(r, &range);
}

/* "(a-b)" behind an H. */
static enum rc take_bounds(struct reader *r, struct range *range)
{
    TRY(take_value(r, &range->from));
    if (!take_char(r, '-'))
        return refuse_item(r, "needs a range in its brackets, as in H(0-29)");
    TRY(take_value(r, &range->to));
    if (!take_char(r, ')'))
        return refuse_item(r, "lacks a bracket at its end");
    if (range->from > range->to)
        return refuse_item(r, "has a range that runs backwards");
    return RC_OK;
}

/* "H": one value of the range, always the same for a name. "H/15": every 15, from one of the first
 * 15 on. */
static enum rc read_hashed(struct reader *r)
{
    struct range range = {.from = r->kind->min, .to = r->id == DAY ? H_DAY_MAX : r->kind->max};
    struct rng rng = {.state = r->seed + (uint64_t)r->id};
    if (take_char(r, '('))
        TRY(take_bounds(r, &range));
    bool has_step = r->rest.len > 0;
    TRY(take_step(r, &range.step));
    unsigned width = range.to - range.from + 1;
    if (!has_step)
        range.step = width; /* so that it is a single value */
    range.from += (unsigned)rng_below(&rng, range.step < width ? range.step : width);
    return end_item(r, &range);
}

/* FRI-SUN ends on the 7 that is Sunday too. */
static enum rc take_range_end(struct reader *r, struct range *range)
{
    TRY(take_value(r, &range->to));
    if (r->id == WEEKDAY && range->to == 0 && range->from > 0 && r->rest.ptr[-1] != '0')
        range->to = 7;
    if (range->from <= range->to)
        return RC_OK;
    return refuse(r, "%u-%u runs backwards; write %u-%u,%u-%u", range->from, range->to, range->from,
                  r->kind->max, r->kind->min, range->to);
}

static enum rc read_nth(struct reader *r, unsigned weekday)
{
    unsigned nth = 0;
    TRY(take_number(r, &nth));
    if (nth < 1 || nth > 5)
        return refuse(r, "a month has no day of week number %u; # takes 1 to 5", nth);
    if (r->rest.len > 0)
        return refuse_item(r, "is not understood");
    r->cron->nth_weekdays[weekday % 7] |= (uint8_t)(1U << nth);
    return RC_OK;
}

/* The suffix of a single value: 15W, FRIL, FRI#2. *ret_done when something did. */
static enum rc read_suffix(struct reader *r, unsigned value, bool *ret_done)
{
    *ret_done = true;
    if (r->id == WEEKDAY && take_char(r, '#'))
        return read_nth(r, value);
    if (r->id == WEEKDAY && take_letter(r, 'L'))
        r->cron->last_weekdays |= (uint8_t)(1U << value % 7);
    else if (r->id == DAY && take_letter(r, 'W'))
        r->cron->near_days |= UINT32_C(1) << value;
    else
        *ret_done = false;
    return *ret_done && r->rest.len > 0 ? refuse_item(r, "is not understood") : RC_OK;
}

/* "5", "5-10", "5-10/2", "5/15" (from 5 on), and what read_suffix knows. */
static enum rc read_values(struct reader *r)
{
    struct range range = {0};
    bool done;
    TRY(take_value(r, &range.from));
    TRY(read_suffix(r, range.from, &done));
    if (done)
        return RC_OK;
    bool is_range = take_char(r, '-');
    range.to = range.from;
    if (is_range)
        TRY(take_range_end(r, &range));
    bool has_step = r->rest.len > 0;
    TRY(take_step(r, &range.step));
    if (has_step && !is_range && range.to < r->kind->max)
        range.to = r->kind->max;
    return end_item(r, &range);
}

/* "L" and "LW", days of month. */
static enum rc read_last(struct reader *r)
{
    if (r->id == WEEKDAY)
        return refuse_item(r, "does not say which day: the last Friday of a month is FRIL");
    if (r->id != DAY)
        return refuse_item(r, "is for days: L is the last day of the month");
    if (take_letter(r, 'W'))
        r->cron->last_working_day = true;
    else
        r->cron->last_day = true;
    return r->rest.len > 0 ? refuse_item(r, "is not understood") : RC_OK;
}

static enum rc read_item(struct reader *r)
{
    r->rest = r->item;
    if (r->item.len == 0)
        return refuse(r, "an item of the list is missing");
    if (take_char(r, '*'))
        return read_star(r);
    if (take_char(r, '?'))
        return r->id == DAY || r->id == WEEKDAY ? read_star(r)
                                                : refuse_item(r, "is for the two day fields only");
    if (take_letter(r, 'H'))
        return read_hashed(r);
    if (take_letter(r, 'L'))
        return read_last(r);
    return read_values(r);
}

static bool begins_with_star(struct str field)
{
    return field.len > 0 && (field.ptr[0] == '*' || field.ptr[0] == '?');
}

static enum rc read_field(struct reader *r, struct str text)
{
    r->kind = &kinds[r->id];
    bool star = begins_with_star(text);
    r->cron->days_and |= star && (r->id == DAY || r->id == WEEKDAY);
    r->cron->real_time |= star && (r->id == MINUTE || r->id == HOUR);
    for (struct str rest = text; rest.ptr != NULL;) {
        r->item = str_cut(&rest, ',');
        TRY(read_item(r));
    }
    return RC_OK;
}

/* ---- the whole */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word, cut off the front. */
static struct str take_text(struct str *rest)
{
    size_t begin = 0;
    while (begin < rest->len && is_blank(rest->ptr[begin]))
        begin++;
    size_t end = begin;
    while (end < rest->len && !is_blank(rest->ptr[end]))
        end++;
    struct str word = str_of(rest->ptr + begin, end - begin);
    *rest = str_from(*rest, end);
    return word;
}

static enum rc count_fields(struct str text, bool seconds, struct err *err)
{
    size_t found = 0;
    size_t wanted = seconds ? 6 : 5;
    while (take_text(&text).len > 0)
        found++;
    if (found == wanted)
        return RC_OK;
    if (found == 6)
        return err_set(err, RC_INVALID,
                       "six fields, but seconds were not asked for: five are minute, hour, day of "
                       "month, month, day of week");
    if (found == 5)
        return err_set(err, RC_INVALID,
                       "five fields, but seconds were asked for: the first of six is the second");
    return err_set(err, RC_INVALID,
                   "%zu fields, but it must be %zu: %sminute, hour, day of month, "
                   "month, day of week",
                   found, wanted, seconds ? "second, " : "");
}

/* 400 years are a whole cycle of the calendar: what does not come in one never comes. */
static enum rc check_comes(const struct cron *cron, struct err *err)
{
    for (int64_t year = 2000; year < 2400; year++) {
        for (unsigned month = 1; month <= 12; month++) {
            if ((cron->months >> month & 1) != 0 && cron_days_of_month(cron, year, month) != 0)
                return RC_OK;
        }
    }
    return err_set(err, RC_INVALID,
                   "day of month: such a day never comes in the months that were chosen");
}

static enum rc read_fields(struct str text, const struct cron_options *options, struct cron *cron,
                           struct err *err)
{
    struct reader r = {.seed = str_hash(options->name), .cron = cron, .err = err};
    TRY(count_fields(text, options->seconds, err));
    cron->seconds = options->seconds ? 0 : 1;
    for (int id = options->seconds ? SECOND : MINUTE; id < FIELDS; id++) {
        r.id = (enum field_id)id;
        TRY(read_field(&r, take_text(&text)));
    }
    return check_comes(cron, err);
}

static enum rc read_every(struct str text, struct cron *cron, struct err *err)
{
    struct str duration = take_text(&text);
    if (duration.len == 0 || str_trim(text).len > 0)
        return err_set(err, RC_INVALID, "@every takes one duration, as in @every 90s");
    TRY(duration_parse(duration, &cron->every_ms, err));
    if (cron->every_ms < EVERY_MIN_MS)
        return err_set(err, RC_INVALID, "@every: must be at least 1s");
    if (cron->every_ms > DURATION_MAX_MS)
        return err_set(err, RC_INVALID, "@every: must be at most 3660d");
    return RC_OK;
}

static const struct {
    struct str word;
    struct str meaning;
} nicknames[] = {
    {STR_INIT("@yearly"), STR_INIT("0 0 1 1 *")},  {STR_INIT("@annually"), STR_INIT("0 0 1 1 *")},
    {STR_INIT("@monthly"), STR_INIT("0 0 1 * *")}, {STR_INIT("@weekly"), STR_INIT("0 0 * * 0")},
    {STR_INIT("@daily"), STR_INIT("0 0 * * *")},   {STR_INIT("@midnight"), STR_INIT("0 0 * * *")},
    {STR_INIT("@hourly"), STR_INIT("0 * * * *")},
};

static enum rc read_nickname(struct str text, struct cron *cron, struct err *err)
{
    static const struct cron_options plain = {.seconds = false};
    char quoted[QUOTE_BYTES];
    struct str word = take_text(&text);
    if (str_eq_nocase(word, STR("@every")))
        return read_every(text, cron, err);
    if (str_eq_nocase(word, STR("@reboot")))
        return err_set(
            err, RC_INVALID,
            "@reboot: jobs outlive every machine here, so there is no reboot to wait for; let the "
            "machine run `belfry submit` when it has started, by a systemd unit for example");
    for (size_t i = 0; i < COUNT_OF(nicknames); i++) {
        if (str_eq_nocase(word, nicknames[i].word) && str_trim(text).len == 0)
            return read_fields(nicknames[i].meaning, &plain, cron, err);
    }
    return err_set(err, RC_INVALID,
                   "'%s' is not one of @yearly @annually @monthly @weekly @daily @midnight @hourly "
                   "or @every 90s",
                   quote(word, quoted));
}

enum rc cron_parse(struct str text, const struct cron_options *options, struct cron *ret_cron,
                   struct str *ret_zone, struct err *err)
{
    static const struct str prefix = STR_INIT("CRON_TZ=");
    struct cron cron = {0};
    struct str zone = {0};
    if (text.len > CRON_TEXT_BYTES_MAX)
        return err_set(err, RC_INVALID, "a cron expression has at most %d bytes, not %zu",
                       CRON_TEXT_BYTES_MAX, text.len);
    struct str rest = text;
    struct str first = take_text(&rest);
    if (str_starts(first, prefix)) {
        zone = str_from(first, prefix.len);
        if (zone.len == 0)
            return err_set(err, RC_INVALID,
                           "CRON_TZ: a zone is missing, as in CRON_TZ=Europe/Berlin");
        text = rest;
        first = take_text(&rest);
    }
    if (first.len > 0 && first.ptr[0] == '@')
        TRY(read_nickname(text, &cron, err));
    else
        TRY(read_fields(text, options, &cron, err));
    *ret_cron = cron;
    *ret_zone = zone;
    return RC_OK;
}
