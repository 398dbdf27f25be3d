#include "server/timekeeper.h"
#include "base/log.h"
#include "loop/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DRIFT_PPM = 100,         /* more than any clock that is not broken */
    SLACK_US = 50000,        /* contradictions smaller than this are nobody's business */
    SKEW_TOLD_MS = 1000,     /* of our own clock */
    SKEW_CHANGED_MS = 10000, /* told again when it differs by so much */
};

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

int64_t timekeeper_add(struct timekeeper *t, int64_t database_ms, int64_t sent_us, int64_t heard_us,
                       int64_t *ret_jump_us)
{
    struct time_sample s = {
        .offset_us = database_ms * 1000 + 500 - (sent_us + heard_us) / 2,
        .error_us = (heard_us - sent_us) / 2 + 500, /* and what is lost below a millisecond */
        .at_us = heard_us,
    };
    const struct time_sample *known = best(t, heard_us);
    *ret_jump_us = 0;
    if (known != NULL) {
        int64_t apart_us = s.offset_us - known->offset_us;
        if (llabs(apart_us) > s.error_us + error_now(known, heard_us) + SLACK_US) {
            *ret_jump_us = apart_us;
            t->count = 0;
            t->jumps.count++;
            t->jumps.by_ms = apart_us / 1000;
            t->jumps.at_ms = database_ms;
        }
    }
    t->samples[t->count++ % TIMEKEEPER_SAMPLES] = s;
    return best(t, heard_us)->offset_us;
}

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

void timekeeper_sample(struct timekeeper *t, int64_t database_ms, int64_t sent_us, int64_t heard_us)
{
    int64_t jump_us;
    char text[24];
    int64_t offset_us = timekeeper_add(t, database_ms, sent_us, heard_us, &jump_us);
    if (jump_us != 0) {
        snprintf(text, sizeof text, "%" PRId64, jump_us / 1000);
        log_warn("the database's clock was set", "by_ms", text, NULL);
    }
    clock_follow(offset_us);
    tell_skew(t, clock_own_wall_ms() - (clock_boot_us() + offset_us) / 1000);
}
