/* cron_text.c - cron expressions in plain English, made of what they mean and not of how they were
 * written: MON-FRI and 1,2,3,4,5 read the same. */
#include "base/when.h"
#include "job/time/cron.h"

enum { TIMES_MAX = 8 /* more times of day than this are told as a rule, not as a list */ };

#define ALL_60 ((UINT64_C(1) << 60) - 1)
#define ALL_HOURS ((UINT64_C(1) << 24) - 1)
#define ALL_DAYS UINT32_C(0xfffffffe)
#define ALL_MONTHS UINT64_C(0x1ffe)
#define ALL_WEEKDAYS UINT64_C(0x7f)

static const char *const month_names[] = {
    "",     "January", "February",  "March",   "April",    "May",      "June",
    "July", "August",  "September", "October", "November", "December",
};
static const char *const weekday_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                            "Thursday", "Friday", "Saturday"};
static const char *const ordinals[] = {"", "first", "second", "third", "fourth", "fifth", "last"};

/* ---- lists: "1, 2 and 5 to 7" */

/* A list under construction: what belongs between two items depends on how many come behind. */
struct list {
    struct buf *out;
    unsigned added;
    unsigned total;
};

static void begin_item(struct list *list)
{
    if (list->added > 0)
        buf_add(list->out, list->added + 1 == list->total ? STR(" and ") : STR(", "));
    list->added++;
}

static unsigned run_length(uint64_t set, unsigned from)
{
    unsigned len = 0;
    while (from + len < 64 && (set >> (from + len) & 1) != 0)
        len++;
    return len;
}

static void add_name(struct buf *out, unsigned value, const char *const *names)
{
    if (names != NULL)
        buf_add(out, str_c(names[value]));
    else
        buf_add_u64(out, value);
}

/* Three or more in a row are one range. */
static unsigned range_length(uint64_t set, unsigned from)
{
    unsigned len = run_length(set, from);
    return len >= 3 ? len : 1;
}

static uint64_t without_range(uint64_t set, unsigned from, unsigned len)
{
    return set & ~(((UINT64_C(1) << len) - 1) << from);
}

static void add_set(struct buf *out, uint64_t set, const char *const *names)
{
    struct list list = {.out = out};
    for (uint64_t rest = set; rest != 0; list.total++) {
        unsigned from = (unsigned)__builtin_ctzll(rest);
        rest = without_range(rest, from, range_length(rest, from));
    }
    while (set != 0) {
        unsigned from = (unsigned)__builtin_ctzll(set);
        unsigned len = range_length(set, from);
        set = without_range(set, from, len);
        begin_item(&list);
        add_name(out, from, names);
        if (len > 1) {
            buf_add(out, STR(" to "));
            add_name(out, from + len - 1, names);
        }
    }
}

/* "minute 5", "minutes 5 and 10" */
static void add_counted(struct buf *out, const char *noun, uint64_t set)
{
    buf_printf(out, "%s%s ", noun, __builtin_popcountll(set) > 1 ? "s" : "");
    add_set(out, set, NULL);
}

/* n when the set is 0, n, 2n ... up to `size`, which n divides, so that the steps are even across
 * its end; else 0. */
static unsigned even_step(uint64_t set, unsigned size)
{
    unsigned count = (unsigned)__builtin_popcountll(set);
    if (count < 2 || size % count != 0)
        return 0;
    unsigned step = size / count;
    for (unsigned value = 0; value < size; value += step) {
        if ((set >> value & 1) == 0)
            return 0;
    }
    return step;
}

/* ---- the time of day */

static unsigned times_a_day(const struct cron *cron)
{
    return (unsigned)(__builtin_popcountll(cron->hours) * __builtin_popcountll(cron->minutes) *
                      __builtin_popcountll(cron->seconds));
}

static void add_times(struct buf *out, const struct cron *cron)
{
    struct list list = {.out = out, .total = times_a_day(cron)};
    buf_add(out, STR("at "));
    for (unsigned at = 0; list.added < list.total; at++) {
        if ((cron->hours >> at / 3600 & 1) == 0 || (cron->minutes >> at / 60 % 60 & 1) == 0 ||
            (cron->seconds >> at % 60 & 1) == 0)
            continue;
        begin_item(&list);
        buf_printf(out, "%02u:%02u", at / 3600, at / 60 % 60);
        if (cron->seconds != 1)
            buf_printf(out, ":%02u", at % 60);
    }
}

/* "every second", "every 10 seconds", "at seconds 5 and 10", and the same of minutes. */
static void add_beat(struct buf *out, const char *noun, uint64_t set)
{
    unsigned step = even_step(set, 60);
    if (set == ALL_60)
        buf_printf(out, "every %s", noun);
    else if (step > 0)
        buf_printf(out, "every %u %ss", step, noun);
    else {
        buf_add(out, STR("at "));
        add_counted(out, noun, set);
    }
}

/* On the hour: "every 2 hours", "every hour from 09:00 to 17:00". */
static bool add_hourly(struct buf *out, uint64_t hours)
{
    unsigned first = (unsigned)__builtin_ctzll(hours);
    unsigned len = run_length(hours, first);
    unsigned step = even_step(hours, 24);
    if (hours == ALL_HOURS)
        buf_add(out, STR("every hour"));
    else if (step > 0)
        buf_printf(out, "every %u hours", step);
    else if (len == (unsigned)__builtin_popcountll(hours))
        buf_printf(out, "every hour from %02u:00 to %02u:00", first, first + len - 1);
    else
        return false;
    return true;
}

static void add_hours(struct buf *out, const struct cron *cron)
{
    bool is_beat = even_step(cron->minutes, 60) > 0;
    if (cron->hours != ALL_HOURS) {
        buf_add(out, STR(" of "));
        add_counted(out, "hour", cron->hours);
    } else if (!is_beat)
        buf_add(out, STR(" of every hour"));
}

/* True when it is a list of times of day, each of which is once a day. */
static bool add_time(struct buf *out, const struct cron *cron)
{
    bool on_the_minute = cron->seconds == 1;
    if (times_a_day(cron) <= TIMES_MAX) {
        add_times(out, cron);
        return true;
    }
    if (on_the_minute && cron->minutes == 1 && add_hourly(out, cron->hours))
        return false;
    if (on_the_minute)
        add_beat(out, "minute", cron->minutes);
    else {
        add_beat(out, "second", cron->seconds);
        if (cron->minutes != ALL_60) {
            buf_add(out, STR(" of "));
            add_counted(out, "minute", cron->minutes);
        }
    }
    add_hours(out, cron);
    return false;
}

/* ---- the day */

static void add_days(struct buf *out, const struct cron *cron)
{
    struct list list = {.out = out};
    list.total = (cron->days != 0) + (unsigned)__builtin_popcount(cron->near_days) +
                 cron->last_day + cron->last_working_day;
    if (cron->days != 0) {
        begin_item(&list);
        add_counted(out, "day", cron->days);
    }
    for (unsigned day = 1; day <= 31; day++) {
        if ((cron->near_days >> day & 1) == 0)
            continue;
        begin_item(&list);
        buf_printf(out, "the working day nearest to day %u", day);
    }
    if (cron->last_day) {
        begin_item(&list);
        buf_add(out, STR("the last day"));
    }
    if (cron->last_working_day) {
        begin_item(&list);
        buf_add(out, STR("the last working day"));
    }
    buf_add(out, STR(" of the month"));
}

/* FRI#2 as bit 2, FRIL as bit 6. */
static unsigned counted_of(const struct cron *cron, unsigned weekday)
{
    return cron->nth_weekdays[weekday] | (cron->last_weekdays >> weekday & 1U) << 6;
}

static void add_weekdays(struct buf *out, const struct cron *cron)
{
    struct list list = {.out = out, .total = cron->weekdays != 0};
    for (unsigned weekday = 0; weekday < 7; weekday++)
        list.total += (unsigned)__builtin_popcount(counted_of(cron, weekday));
    if (cron->weekdays != 0) {
        begin_item(&list);
        add_set(out, cron->weekdays, weekday_names);
    }
    for (unsigned weekday = 0; weekday < 7; weekday++) {
        for (unsigned nth = 1; nth <= 6; nth++) {
            if ((counted_of(cron, weekday) >> nth & 1) == 0)
                continue;
            begin_item(&list);
            buf_printf(out, "the %s %s of the month", ordinals[nth], weekday_names[weekday]);
        }
    }
}

static void add_day(struct buf *out, const struct cron *cron, bool once_a_day)
{
    bool any_day = cron->days == ALL_DAYS;
    bool any_weekday = cron->weekdays == ALL_WEEKDAYS;
    bool every_day = cron->days_and ? any_day && any_weekday : any_day || any_weekday;
    if (every_day) {
        buf_add(out, once_a_day ? STR(" every day") : STR(""));
        return;
    }
    buf_add(out, STR(" on "));
    if (!any_day || !cron->days_and)
        add_days(out, cron);
    if (!any_day && !any_weekday)
        buf_add(out, cron->days_and ? STR(", but only if that is ") : STR(", or on "));
    if (!any_weekday || !cron->days_and)
        add_weekdays(out, cron);
}

void cron_text(const struct cron *cron, struct buf *out)
{
    char duration[WHEN_TEXT_MAX];
    if (cron->every_ms > 0) {
        buf_add(out, STR("every "));
        buf_add(out, duration_format(duration, cron->every_ms));
        return;
    }
    bool once_a_day = add_time(out, cron);
    add_day(out, cron, once_a_day);
    if (cron->months != ALL_MONTHS) {
        buf_add(out, STR(" in "));
        add_set(out, cron->months, month_names);
    }
}
