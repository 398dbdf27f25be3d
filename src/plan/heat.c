/* heat.c - when it is busy: firings by hour, as characters that get darker. */
#include "base/date.h"
#include "plan/report.h"

#include <inttypes.h>
#include <stdio.h>

enum { DAYS_SHOWN = 14, HOURS = 24, WEEKDAYS = 7 };

static const int64_t HOUR_MS = 3600000;
static const int64_t DAY_MS = 24 * 3600000;
static const char shades[] = " .:-=+*#%@";
static const char *const weekdays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};

struct heat {
    const struct score *score;
    struct buf *out;
    uint64_t most;
};

/* The days begin where UTC has them. */
static size_t weekday_of(int64_t day)
{
    return (size_t)(((day % WEEKDAYS) + WEEKDAYS) % WEEKDAYS);
}

static char shade_of(const struct heat *h, uint64_t firings)
{
    size_t darkest = sizeof shades - 2;
    return shades[h->most == 0 ? 0 : (firings * darkest + h->most - 1) / h->most];
}

static void print_line(const struct heat *h, const char *label, const uint64_t *hours)
{
    buf_printf(h->out, "%-15s|", label);
    uint64_t sum = 0;
    for (size_t i = 0; i < HOURS; i++) {
        char shade = shade_of(h, hours[i]);
        buf_add_char(h->out, shade);
        buf_add_char(h->out, shade);
        sum += hours[i];
    }
    buf_printf(h->out, "| %" PRIu64 "\n", sum);
}

static int64_t day_of(const struct score *t, size_t hour)
{
    return (t->hours_from_ms + (int64_t)hour * HOUR_MS) / DAY_MS;
}

static size_t hour_of(const struct score *t, size_t hour)
{
    return (size_t)((t->hours_from_ms + (int64_t)hour * HOUR_MS) % DAY_MS / HOUR_MS);
}

static void print_days(struct heat *h)
{
    const struct score *t = h->score;
    uint64_t hours[HOURS] = {0};
    for (size_t i = 0; i < t->hour_count; i++) {
        hours[hour_of(t, i)] = t->hours[i];
        if (i + 1 < t->hour_count && day_of(t, i + 1) == day_of(t, i))
            continue;
        char label[64];
        struct date date = date_from_days(day_of(t, i));
        snprintf(label, sizeof label, "%04d-%02u-%02u %s", (int)date.year, date.month, date.day,
                 weekdays[weekday_of(day_of(t, i))]);
        print_line(h, label, hours);
        for (size_t k = 0; k < HOURS; k++)
            hours[k] = 0;
    }
}

/* What an hour of that weekday has on average: a window rarely has whole weeks. */
static void print_weekdays(struct heat *h)
{
    uint64_t sums[WEEKDAYS][HOURS] = {0};
    uint64_t times[WEEKDAYS][HOURS] = {0};
    h->most = 0;
    for (size_t i = 0; i < h->score->hour_count; i++) {
        size_t day = weekday_of(day_of(h->score, i));
        size_t hour = hour_of(h->score, i);
        sums[day][hour] += h->score->hours[i];
        times[day][hour]++;
    }
    for (size_t i = 0; i < WEEKDAYS * HOURS; i++) {
        uint64_t *sum = &sums[i / HOURS][i % HOURS];
        uint64_t n = times[i / HOURS][i % HOURS];
        *sum = (*sum + n / 2) / (n > 0 ? n : 1);
        h->most = *sum > h->most ? *sum : h->most;
    }
    for (size_t i = 0; i < WEEKDAYS; i++) {
        size_t monday_first = (i + 4) % WEEKDAYS;
        print_line(h, weekdays[monday_first], sums[monday_first]);
    }
}

void heat_print(const struct score *t, struct buf *out)
{
    struct heat h = {.score = t, .out = out};
    bool by_day = day_of(t, t->hour_count - 1) - day_of(t, 0) < DAYS_SHOWN;
    size_t fullest = 0;
    for (size_t i = 0; i < t->hour_count; i++)
        fullest = t->hours[i] > t->hours[fullest] ? i : fullest;
    h.most = t->hours[fullest];
    if (h.most == 0)
        return;
    struct date date = date_from_days(day_of(t, fullest));
    buf_printf(out,
               "\nFirings by hour, UTC%s; most in one hour: %u, on %04d-%02u-%02u at %02zu:00\n",
               by_day ? "" : ", on average", t->hours[fullest], (int)date.year, date.month,
               date.day, hour_of(t, fullest));
    buf_printf(out, "%-16s00    03    06    09    12    15    18    21\n", "");
    (by_day ? print_days : print_weekdays)(&h);
}
