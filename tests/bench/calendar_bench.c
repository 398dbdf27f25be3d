/* calendar_bench.c - what it costs to ask a calendar, by its number of entries.
 *
 * One core, processor time. Moments are random over 40 years; dates are spread so that none follows
 * another and each is a wait of its own, and rules are yearly ones, the dearest kind. */
#include "base/rng.h"
#include "job/time/calendar.h"
#include "loop/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DAY_S = 86400, ASKED = 200000, FIRST_DAY = 20454 /* 2026-01-01 */, DAYS = 40 * 366 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add(struct calendar_draft *draft, size_t dates, size_t rules)
{
    struct err err;
    enum rc rc = RC_OK;
    for (size_t i = 0; i < dates && rc == RC_OK; i++) {
        int64_t at_s = FIRST_DAY * (int64_t)DAY_S + (int64_t)i * DAYS * DAY_S / (int64_t)dates;
        rc = calendar_add_local(draft, (struct calendar_span){at_s, at_s + 3600}, &err);
    }
    for (size_t i = 0; i < rules && rc == RC_OK; i++) {
        struct calendar_rule rule = {
            .freq = CALENDAR_YEARLY,
            .interval = 1,
            .start_s = (FIRST_DAY + (int64_t)i % 365) * DAY_S + (int64_t)i,
            .last_s = ZONE_EVER_S,
            .length_s = 60,
        };
        rc = calendar_add_rule(draft, &rule, &err);
    }
    if (rc != RC_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
}

static void bench(const struct zone *zone, size_t dates, size_t rules)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct calendar_draft draft = {.arena = &arena};
    struct rng rng = {.state = 1};
    size_t covered = 0;
    add(&draft, dates, rules);
    struct calendar calendar = calendar_make(&draft);
    double begin = seconds();
    for (int i = 0; i < ASKED; i++) {
        int64_t until_s;
        int64_t at_s =
            FIRST_DAY * (int64_t)DAY_S + (int64_t)rng_below(&rng, DAYS * UINT64_C(86400));
        covered += calendar_covers(&calendar, zone, at_s, &until_s);
    }
    double took = seconds() - begin;
    printf("ask    %6zu dates %5zu rules  %9.3f us, %4.1f %% covered\n", dates, rules,
           took / ASKED * 1e6, 100.0 * (double)covered / ASKED);
}

int main(void)
{
    struct zones *zones = zones_new(NULL);
    const struct zone *zone;
    struct err err;
    if (zones_find(zones, STR("Europe/Berlin"), &zone, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return EXIT_FAILURE;
    }
    static const size_t sizes[][2] = {{0, 0},  {100, 0}, {10000, 0},
                                      {0, 10}, {0, 100}, {9000, 1000}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        bench(zone, sizes[i][0], sizes[i][1]);
    zones_free(zones);
    return EXIT_SUCCESS;
}
