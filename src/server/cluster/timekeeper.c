#include "server/cluster/timekeeper.h"
#include "base/log.h"

#include <stdlib.h>

enum {
    SKEW_TOLD_MS = 1000,     /* of our own clock */
    SKEW_CHANGED_MS = 10000, /* told again when it differs by so much */
};

struct time_rules timekeeper_rules(const struct server_options *options)
{
    return (struct time_rules){
        .step_ms = (int64_t)options->clock_step_ms,
        .trust_sync = options->clock_synced == 0,
    };
}

static struct time_reading read_own(void)
{
    struct time_reading own;
    own.offset_us = clock_own_offset_us(&own.boot_us);
    own.synced = clock_own_is_synced();
    return own;
}

/* ---- what is told */

static void tell_skew(struct timekeeper *t, const struct time_answer *answer,
                      const struct time_reading *own)
{
    int64_t own_ms = ((answer->sent_us + answer->heard_us) / 2 + own->offset_us) / 1000;
    int64_t skew_ms = own_ms - answer->database_ms;
    bool is_new = llabs(skew_ms - t->told_skew_ms) > SKEW_CHANGED_MS ||
                  (t->told_skew_ms == 0 && llabs(skew_ms) > SKEW_TOLD_MS);
    if (!is_new || answer->heard_us - answer->sent_us > TIMING_SLOW_US)
        return;
    t->told_skew_ms = skew_ms;
    log_warn("this machine's clock differs from the database's, which is the one that counts",
             "skew_ms", LOG_NUMBER(skew_ms), NULL);
}

static void go_by_start(const struct timekeeper *t)
{
    clock_go_by(&t->timing.line);
    if (t->timing.line.sure)
        return;
    log_warn(
        "the clock does not fit to what the store has last seen; until it has held for a while, "
        "or is synchronised, nothing that waits for a moment comes due",
        NULL);
}

static bool go_by(const struct timekeeper *t, bool was_sure, bool stepped)
{
    clock_go_by(&t->timing.line);
    if (!stepped)
        return false;
    log_warn(t->timing.overdue ? "the clock never held still; its newest time is taken"
             : was_sure        ? "the clock was set, and is followed"
                               : "the clock has held, and is followed",
             "by_ms", LOG_NUMBER(t->timing.line.steps.by_ms), NULL);
    return true;
}

/* ---- alone */

void timekeeper_begin(struct timekeeper *t, const struct time_rules *rules, int64_t newest_ms)
{
    struct time_reading own = read_own();
    *t = (struct timekeeper){0};
    timing_begin(&t->timing, rules, newest_ms, &own);
    go_by_start(t);
}

bool timekeeper_look(struct timekeeper *t)
{
    if (!timing_is_due(&t->timing, clock_boot_us()))
        return false;
    struct time_reading own = read_own();
    bool was_sure = t->timing.line.sure;
    return go_by(t, was_sure, timing_look(&t->timing, &own));
}

/* ---- in a cluster */

void timekeeper_enter(struct timekeeper *t, const struct time_rules *rules, int64_t newest_ms,
                      const struct time_answer *answer, const struct time_company *company)
{
    struct time_reading own = read_own();
    *t = (struct timekeeper){0};
    timing_enter(&t->timing, rules, newest_ms, answer, company, &own);
    go_by_start(t);
}

bool timekeeper_sample(struct timekeeper *t, const struct time_answer *answer,
                       const struct time_company *company)
{
    struct time_reading own = read_own();
    bool was_sure = t->timing.line.sure;
    tell_skew(t, answer, &own);
    return go_by(t, was_sure, timing_sample(&t->timing, answer, company, &own));
}

bool timekeeper_back(struct timekeeper *t, const struct time_answer *answer,
                     const struct time_company *company)
{
    struct time_reading own = read_own();
    bool was_sure = t->timing.line.sure;
    return go_by(t, was_sure, timing_back(&t->timing, answer, company, &own));
}
