#include "server/timekeeper.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DRIFT_PPM = 100,         /* more than any clock that is not broken */
    SLACK_US = 50000,        /* contradictions smaller than this are nobody's business */
    SKEW_TOLD_MS = 1000,     /* of our own clock */
    SKEW_CHANGED_MS = 10000, /* told again when it differs by so much */
    SLOW_US = 500000,        /* an answer that took longer says nothing … */
    STRIKES = 3, /* rows of the leader that go by another time: it is not one that just changed */
};
#define DRY_US INT64_C(60000000) /* … unless there was no better one for so long */

struct timekeeper_rules timekeeper_rules_of(const struct server_options *options)
{
    return (struct timekeeper_rules){
        .step_ms = (int64_t)options->clock_step_ms,
        .trust_sync = options->clock_synced == 0,
    };
}

/* ---- samples */

static int64_t error_now(const struct time_sample *s, int64_t now_us)
{
    return s->error_us + (now_us - s->at_us) * DRIFT_PPM / 1000000;
}

static size_t held(const struct timekeeper *t)
{
    return t->count < TIMEKEEPER_SAMPLES ? t->count : TIMEKEEPER_SAMPLES;
}

static const struct time_sample *best(const struct timekeeper *t, int64_t now_us)
{
    const struct time_sample *found = NULL;
    for (size_t i = 0; i < held(t); i++) {
        const struct time_sample *s = &t->samples[i];
        if (found == NULL || error_now(s, now_us) < error_now(found, now_us))
            found = s;
    }
    return found;
}

int64_t timekeeper_add(struct timekeeper *t, const struct time_sample *sample)
{
    const struct time_sample *known = best(t, sample->at_us);
    if (known != NULL && llabs(sample->offset_us - known->offset_us) >
                             sample->error_us + error_now(known, sample->at_us) + SLACK_US)
        t->count = 0; /* they contradict each other: the clock was set by a little */
    t->samples[t->count++ % TIMEKEEPER_SAMPLES] = *sample;
    return best(t, sample->at_us)->offset_us;
}

static struct time_sample sample_of(const struct time_answer *a)
{
    return (struct time_sample){
        .offset_us = a->database_ms * 1000 + 500 - (a->sent_us + a->heard_us) / 2,
        .error_us = (a->heard_us - a->sent_us) / 2 + 500, /* and what is lost below a millisecond */
        .at_us = a->heard_us,
    };
}

bool timekeeper_usable(struct timekeeper *t, const struct time_answer *answer,
                       struct time_sample *ret_sample)
{
    struct time_sample s = sample_of(answer);
    if (answer->heard_us - answer->sent_us <= SLOW_US) {
        t->usable_us = answer->heard_us;
        t->slow = (struct time_sample){0};
        *ret_sample = s;
        return true;
    }
    if (t->slow.at_us == 0 || s.error_us < t->slow.error_us)
        t->slow = s;
    if (answer->heard_us - t->usable_us < DRY_US)
        return false;
    *ret_sample = t->slow;
    ret_sample->at_us = answer->heard_us;
    t->usable_us = answer->heard_us;
    t->slow = (struct time_sample){0};
    return true;
}

/* ---- what is told */

static void tell_skew(struct timekeeper *t, int64_t skew_ms)
{
    char text[24];
    bool is_new = llabs(skew_ms - t->told_skew_ms) > SKEW_CHANGED_MS ||
                  (t->told_skew_ms == 0 && llabs(skew_ms) > SKEW_TOLD_MS);
    if (!is_new)
        return;
    t->told_skew_ms = skew_ms;
    snprintf(text, sizeof text, "%" PRId64, skew_ms);
    log_warn("this machine's clock differs from the database's, which is the one that counts",
             "skew_ms", text, NULL);
}

static void tell_start(void)
{
    if (clock_is_sure())
        return;
    log_warn(
        "the clock does not fit to what the store has last seen; until it has held for a while, "
        "or is synchronised, nothing that waits for a moment comes due",
        NULL);
}

static bool accept(struct timekeeper *t, int64_t offset_us)
{
    char text[24];
    bool was_sure = clock_is_sure();
    t->overdue = clock_is_overdue();
    t->count = 0;
    t->strikes = 0;
    snprintf(text, sizeof text, "%" PRId64, clock_accept(offset_us) / 1000);
    log_warn(t->overdue ? "the clock never held still; its newest time is taken"
             : was_sure ? "the clock was set, and is followed"
                        : "the clock has held, and is followed",
             "by_ms", text, NULL);
    return true;
}

/* ---- alone */

static bool own_is_synced(const struct timekeeper *t)
{
    return t->rules.trust_sync && clock_own_is_synced();
}

void timekeeper_begin(struct timekeeper *t, const struct timekeeper_rules *rules, int64_t newest_ms)
{
    int64_t boot_us;
    *t = (struct timekeeper){.rules = *rules};
    int64_t offset_us = clock_own_offset_us(&boot_us);
    clock_begin(rules->step_ms, newest_ms, offset_us, boot_us, own_is_synced(t));
    t->usable_us = boot_us;
    tell_start();
}

bool timekeeper_look(struct timekeeper *t)
{
    int64_t boot_us = clock_boot_us();
    if (boot_us - t->usable_us < 1000000)
        return false;
    int64_t offset_us = clock_own_offset_us(&boot_us);
    t->usable_us = boot_us;
    bool synced = !clock_is_sure() && own_is_synced(t);
    switch (clock_judge(offset_us, boot_us, synced)) {
    case TIMELINE_NEAR: clock_follow(offset_us); return false;
    case TIMELINE_HELD: return accept(t, offset_us);
    case TIMELINE_DOUBTED: break;
    }
    return clock_is_overdue() && accept(t, offset_us);
}

/* ---- in a cluster */

/* Who goes by the database's clock but for what is lost on the way goes by that clock. */
static int64_t settled_us(int64_t ahead_us)
{
    return llabs(ahead_us) <= TIMELINE_NEAR_US ? 0 : ahead_us;
}

/* What our system says about its clock counts when that clock agrees with the database's. */
static bool database_is_synced(const struct timekeeper *t, int64_t offset_us)
{
    int64_t boot_us;
    return llabs(clock_own_offset_us(&boot_us) - offset_us) <= TIMELINE_NEAR_US && own_is_synced(t);
}

void timekeeper_enter(struct timekeeper *t, const struct timekeeper_rules *rules, int64_t newest_ms,
                      const struct time_answer *answer, const struct time_company *company)
{
    *t = (struct timekeeper){.rules = *rules};
    struct time_sample s = sample_of(answer); /* there is none but this */
    t->usable_us = s.at_us;
    if (company->has_others)
        clock_join(rules->step_ms, s.offset_us + settled_us(company->median_us), s.at_us);
    else
        clock_begin(rules->step_ms, newest_ms, s.offset_us, s.at_us,
                    database_is_synced(t, s.offset_us));
    tell_start();
}

/* The leader goes by another time than we do. It may have looked at the database just before its clock was
 * set, and we behind that: so one row says nothing, unless it is about a candidate that has held. */
static bool follows_leader(struct timekeeper *t, const struct time_sample *s,
                           const struct time_company *c, bool held)
{
    if (c->leads || !c->has_leader)
        return false;
    int64_t ours_us = clock_offset_us() - s->offset_us;
    bool differs = !clock_is_sure() || llabs(ours_us - c->ahead_us) > TIMELINE_NEAR_US;
    t->strikes = differs ? t->strikes + 1 : 0;
    bool agrees = held && llabs(c->ahead_us) <= TIMELINE_NEAR_US;
    return differs && (t->strikes >= STRIKES || agrees || !clock_is_sure());
}

bool timekeeper_sample(struct timekeeper *t, const struct time_answer *answer,
                       const struct time_company *company)
{
    struct time_sample s;
    if (!timekeeper_usable(t, answer, &s))
        return false;
    tell_skew(t, clock_own_wall_ms() - (clock_boot_us() + s.offset_us) / 1000);
    bool synced = !clock_is_sure() && database_is_synced(t, s.offset_us);
    enum timeline_verdict verdict = clock_judge(s.offset_us, s.at_us, synced);
    if (follows_leader(t, &s, company, verdict == TIMELINE_HELD))
        return accept(t, s.offset_us + settled_us(company->ahead_us));
    if (verdict == TIMELINE_NEAR)
        clock_follow(timekeeper_add(t, &s));
    bool may = company->leads && verdict == TIMELINE_HELD;
    return (may || clock_is_overdue()) && accept(t, s.offset_us);
}

bool timekeeper_back(struct timekeeper *t, const struct time_answer *answer,
                     const struct time_company *company)
{
    struct time_sample s;
    if (!company->has_others)
        return timekeeper_sample(t, answer, company);
    if (!timekeeper_usable(t, answer, &s))
        return false;
    int64_t theirs_us = s.offset_us + settled_us(company->median_us);
    if (clock_is_sure() && llabs(theirs_us - clock_offset_us()) <= TIMELINE_NEAR_US)
        return timekeeper_sample(t, answer, company);
    return accept(t, theirs_us);
}
