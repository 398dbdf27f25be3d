#include "server/cluster/timing.h"
#include "base/plant.h"

#include <stdlib.h>

enum {
    DRIFT_PPM = 100,   /* more than any clock that is not broken */
    SLACK_US = 50000,  /* contradictions smaller than this are nobody's business */
    LOOK_US = 1000000, /* between two samples of our own clock */
    STRIKES = 3, /* rows of the leader that go by another time: it is not one that just changed */
};
#define DRY_US INT64_C(60000000) /* without a quick answer: then the best slow one counts */

/* ---- samples */

static int64_t error_now(const struct time_sample *s, int64_t now_us)
{
    return s->error_us + (now_us - s->at_us) * DRIFT_PPM / 1000000;
}

static size_t held(const struct timing *t)
{
    return t->count < TIMING_SAMPLES ? t->count : TIMING_SAMPLES;
}

static const struct time_sample *best(const struct timing *t, int64_t now_us)
{
    const struct time_sample *found = NULL;
    for (size_t i = 0; i < held(t); i++) {
        const struct time_sample *s = &t->samples[i];
        if (found == NULL || error_now(s, now_us) < error_now(found, now_us))
            found = s;
    }
    return found;
}

int64_t timing_add(struct timing *t, const struct time_sample *sample)
{
    const struct time_sample *known = best(t, sample->at_us);
    if (known != NULL && llabs(sample->offset_us - known->offset_us) >
                             sample->error_us + error_now(known, sample->at_us) + SLACK_US)
        t->count = 0; /* they contradict each other: the clock was set by a little */
    t->samples[t->count++ % TIMING_SAMPLES] = *sample;
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

bool timing_usable(struct timing *t, const struct time_answer *answer,
                   struct time_sample *ret_sample)
{
    struct time_sample s = sample_of(answer);
    if (answer->heard_us - answer->sent_us <= TIMING_SLOW_US) {
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

static bool accept(struct timing *t, int64_t offset_us, int64_t boot_us)
{
    t->overdue = timeline_is_overdue(&t->line, boot_us);
    t->count = 0;
    t->strikes = 0;
    (void)timeline_accept(&t->line, offset_us, boot_us);
    return true;
}

/* ---- alone */

static bool own_is_synced(const struct timing *t, const struct time_reading *own)
{
    return t->rules.trust_sync && own->synced;
}

void timing_begin(struct timing *t, const struct time_rules *rules, int64_t newest_ms,
                  const struct time_reading *own)
{
    *t = (struct timing){.rules = *rules, .usable_us = own->boot_us};
    timeline_begin(&t->line, rules->step_ms, newest_ms, own->offset_us, own->boot_us,
                   own_is_synced(t, own));
}

bool timing_is_due(const struct timing *t, int64_t boot_us)
{
    return boot_us - t->usable_us >= LOOK_US;
}

bool timing_look(struct timing *t, const struct time_reading *own)
{
    t->usable_us = own->boot_us;
    bool synced = !t->line.sure && own_is_synced(t, own);
    switch (timeline_judge(&t->line, own->offset_us, own->boot_us, synced)) {
    case TIMELINE_NEAR: timeline_follow(&t->line, own->offset_us, own->boot_us); return false;
    case TIMELINE_HELD: return accept(t, own->offset_us, own->boot_us);
    case TIMELINE_DOUBTED: break;
    }
    return timeline_is_overdue(&t->line, own->boot_us) && accept(t, own->offset_us, own->boot_us);
}

/* ---- in a cluster */

/* A server whose time differs from the database's only by what is lost on the way goes by that
 * clock. */
static int64_t settled_us(int64_t ahead_us)
{
    return llabs(ahead_us) <= TIMELINE_NEAR_US ? 0 : ahead_us;
}

/* Our system is believed about its clock when that clock agrees with the database's. */
static bool database_is_synced(const struct timing *t, const struct time_reading *own,
                               int64_t offset_us)
{
    return llabs(own->offset_us - offset_us) <= TIMELINE_NEAR_US && own_is_synced(t, own);
}

void timing_enter(struct timing *t, const struct time_rules *rules, int64_t newest_ms,
                  const struct time_answer *answer, const struct time_company *company,
                  const struct time_reading *own)
{
    struct time_sample s = sample_of(answer); /* there is none but this */
    *t = (struct timing){.rules = *rules, .usable_us = s.at_us};
    if (company->has_others)
        timeline_join(&t->line, rules->step_ms, s.offset_us + settled_us(company->median_us),
                      s.at_us);
    else
        timeline_begin(&t->line, rules->step_ms, newest_ms, s.offset_us, s.at_us,
                       database_is_synced(t, own, s.offset_us));
}

/* The leader goes by another time than we do. It may have looked at the database just before its
 * clock was set, and we behind that: so one row says nothing, unless it is about a candidate that
 * has held. */
static bool follows_leader(struct timing *t, const struct time_sample *s,
                           const struct time_company *c, int64_t boot_us, bool held)
{
    if (c->leads || !c->has_leader || PLANTED(step_not_shared))
        return false;
    int64_t ours_us = timeline_offset_us(&t->line, boot_us) - s->offset_us;
    bool differs = !t->line.sure || llabs(ours_us - c->ahead_us) > TIMELINE_NEAR_US;
    t->strikes = differs ? t->strikes + 1 : 0;
    bool agrees = held && llabs(c->ahead_us) <= TIMELINE_NEAR_US;
    return differs && (t->strikes >= STRIKES || agrees || !t->line.sure);
}

bool timing_sample(struct timing *t, const struct time_answer *answer,
                   const struct time_company *company, const struct time_reading *own)
{
    struct time_sample s;
    if (!timing_usable(t, answer, &s))
        return false;
    bool synced = !t->line.sure && database_is_synced(t, own, s.offset_us);
    enum timeline_verdict verdict = timeline_judge(&t->line, s.offset_us, s.at_us, synced);
    if (follows_leader(t, &s, company, own->boot_us, verdict == TIMELINE_HELD))
        return accept(t, s.offset_us + settled_us(company->ahead_us), own->boot_us);
    if (verdict == TIMELINE_NEAR)
        timeline_follow(&t->line, timing_add(t, &s), own->boot_us);
    bool may = company->leads && verdict == TIMELINE_HELD;
    return (may || timeline_is_overdue(&t->line, own->boot_us)) &&
           accept(t, s.offset_us, own->boot_us);
}

bool timing_back(struct timing *t, const struct time_answer *answer,
                 const struct time_company *company, const struct time_reading *own)
{
    struct time_sample s;
    if (!company->has_others)
        return timing_sample(t, answer, company, own);
    if (!timing_usable(t, answer, &s))
        return false;
    int64_t theirs_us = s.offset_us + settled_us(company->median_us);
    int64_t ours_us = timeline_offset_us(&t->line, own->boot_us);
    if (t->line.sure && llabs(theirs_us - ours_us) <= TIMELINE_NEAR_US)
        return timing_sample(t, answer, company, own);
    return accept(t, theirs_us, own->boot_us);
}
