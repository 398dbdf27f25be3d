/* cron_bench.c - what a next firing costs, and catching up after downtime.
 *
 * One core, processor time. Each line walks a schedule from slot to slot, so that a run sees every
 * kind of step, changes of the clock included; the slowest of its steps is found among blocks of a
 * hundred, since a clock is too coarse for one. */
#include "job/time/schedule.h"
#include "loop/zones.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 1000000, BLOCK = 100 };

static const int64_t start_ms = INT64_C(1767225600000); /* 2026 */

static const struct {
    const char *text;
    const char *zone;
    bool is_rare; /* its slots run out before there are a million */
} loads[] = {
    {"* * * * *", "UTC", false},
    {"*/15 * * * *", "Europe/Berlin", false},
    {"0 3 * * *", "Europe/Berlin", false},
    {"30 2 * * *", "America/New_York", false},
    {"0 9 * * MON-FRI", "Asia/Kathmandu", false},
    {"0,20,40 8-18 1-7 * MON", "Australia/Lord_Howe", false},
    {"0 9 15W * *", "Europe/Dublin", true},
    {"0 0 L * FRI#2,FRIL", "Europe/Berlin", true},
    {"0 0 31 * *", "Africa/Casablanca", true},
    {"0 0 29 2 *", "Europe/Berlin", true},
    {"0 0 29 2 */7", "Europe/Berlin", true},
    {"30 2 29 2 */7", "America/New_York", true},
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

static struct schedule schedule_of(struct zones *zones, const char *text, const char *zone)
{
    struct cron cron;
    struct str ignored;
    struct err err = {0};
    struct cron_options options = {0};
    struct cron_clock clock = {0};
    if (zones_find(zones, str_c(zone), &clock.zone, &err) ||
        cron_parse(str_c(text), &options, &cron, &ignored, &err))
        die(text, &err);
    return schedule_cron(start_ms, &cron, &clock);
}

/* The year 9999 is followed by 2026 again. */
static double walk_block(const struct schedule *s, struct slot *slot)
{
    double begin = seconds();
    for (int i = 0; i < BLOCK; i++) {
        if (!schedule_next(s, slot, slot))
            (void)schedule_after(s, start_ms, slot);
    }
    return seconds() - begin;
}

static void bench_next(struct zones *zones, size_t load)
{
    struct schedule s = schedule_of(zones, loads[load].text, loads[load].zone);
    int steps = loads[load].is_rare ? STEPS / 10 : STEPS;
    struct slot slot;
    double total = 0;
    double slowest = 0;
    (void)schedule_after(&s, start_ms, &slot);
    for (int i = 0; i < steps; i += BLOCK) {
        double took = walk_block(&s, &slot);
        total += took;
        slowest = took > slowest ? took : slowest;
    }
    printf("next   %-24s %-20s %10.0f/s  %7.3f us, slowest hundred %7.3f us each\n",
           loads[load].text, loads[load].zone, steps / total, total / steps * 1e6,
           slowest / BLOCK * 1e6);
}

static void bench_catch_up(struct zones *zones, const char *text, int days)
{
    struct schedule s = schedule_of(zones, text, "Europe/Berlin");
    enum { TIMES = 2000 };
    struct slot due;
    struct catch_up plan = {0};
    (void)schedule_first(&s, &due);
    double begin = seconds();
    for (int i = 0; i < TIMES; i++)
        schedule_catch_up(&s, &due, due.at_ms + (int64_t)days * 86400000 + i, &misfire_default,
                          &plan);
    double took = seconds() - begin;
    printf("missed %-24s %5d days: %10" PRIu64 " slots in %9.3f us\n", text, days,
           plan.expired.count + plan.passed.count + plan.fire.count, took / TIMES * 1e6);
}

static void bench_parse(struct zones *zones, const char *text)
{
    enum { TIMES = 200000 };
    double begin = seconds();
    for (int i = 0; i < TIMES; i++)
        (void)schedule_of(zones, text, "UTC");
    double took = seconds() - begin;
    printf("parse  %-24s %10.0f/s\n", text, TIMES / took);
}

int main(void)
{
    struct zones *zones = zones_new(NULL);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        bench_next(zones, i);
    static const int days[] = {0, 1, 7, 365, 3650};
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++)
        bench_catch_up(zones, "* * * * *", days[i]);
    bench_catch_up(zones, "0 3 * * *", 365);
    bench_parse(zones, "0,15,30,45 8-18 * * MON-FRI");
    bench_parse(zones, "0 0 29 2 *");
    zones_free(zones);
    return EXIT_SUCCESS;
}
