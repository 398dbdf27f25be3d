#include "job/time/timeline.h"
#include "base/plant.h"

#include <assert.h>
#include <stdlib.h>

static bool is_near(int64_t a_us, int64_t b_us)
{
    return llabs(a_us - b_us) <= TIMELINE_NEAR_US;
}

static int64_t wall_ms(int64_t offset_us, int64_t boot_us)
{
    return (boot_us + offset_us) / 1000;
}

static void set(struct timeline *t, int64_t offset_us, int64_t boot_us)
{
    t->from_us = t->to_us = offset_us;
    t->at_us = boot_us;
    t->samples = 0;
}

/* ---- the start */

/* A server ran here at the time of the newest id, and not long ago. */
static bool fits(const struct timeline *t, int64_t offset_us, int64_t boot_us)
{
    int64_t now_ms = wall_ms(offset_us, boot_us);
    return t->newest_ms == TIMELINE_NO_ID || (now_ms >= t->newest_ms - TIMELINE_BACK_MS &&
                                              now_ms <= t->newest_ms + TIMELINE_AHEAD_MS);
}

void timeline_begin(struct timeline *t, int64_t step_ms, int64_t newest_ms, int64_t offset_us,
                    int64_t boot_us, bool synced)
{
    *t = (struct timeline){
        .step_ms = step_ms, .on = true, .newest_ms = newest_ms, .begun_us = boot_us};
    bool usual = fits(t, offset_us, boot_us);
    t->sure = usual || synced || step_ms == 0;
    set(t, t->sure ? offset_us : newest_ms * 1000 - boot_us, boot_us);
    if (!usual && t->sure)
        t->shaken_ms = wall_ms(offset_us, boot_us);
    if (!t->sure) /* the first sample of a candidate */
        (void)timeline_judge(t, offset_us, boot_us, false);
}

void timeline_join(struct timeline *t, int64_t step_ms, int64_t offset_us, int64_t boot_us)
{
    timeline_begin(t, step_ms, TIMELINE_NO_ID, offset_us, boot_us, true);
}

bool timeline_is_overdue(const struct timeline *t, int64_t boot_us)
{
    return !t->sure && boot_us - t->begun_us >= t->step_ms * 1000 * TIMELINE_PATIENCE;
}

/* ---- samples */

static uint32_t samples_needed(const struct timeline *t)
{
    int64_t count = t->step_ms / TIMELINE_SAMPLE_MS;
    return count < TIMELINE_SAMPLES ? (uint32_t)count : TIMELINE_SAMPLES;
}

static bool has_held(const struct timeline *t, int64_t boot_us)
{
    if (PLANTED(reading_believed))
        return true;
    return boot_us - t->since_us >= t->step_ms * 1000 && t->samples >= samples_needed(t);
}

enum timeline_verdict timeline_judge(struct timeline *t, int64_t offset_us, int64_t boot_us,
                                     bool synced)
{
    assert(t->on);
    if (t->sure && is_near(offset_us, timeline_offset_us(t, boot_us))) {
        t->samples = 0;
        return TIMELINE_NEAR;
    }
    if (!t->sure && (synced || fits(t, offset_us, boot_us)))
        return TIMELINE_HELD;
    if (t->samples == 0 || !is_near(offset_us, t->first_us)) {
        t->samples = 0;
        t->first_us = offset_us;
        t->since_us = boot_us;
    }
    t->samples++;
    return has_held(t, boot_us) ? TIMELINE_HELD : TIMELINE_DOUBTED;
}

void timeline_follow(struct timeline *t, int64_t offset_us, int64_t boot_us)
{
    assert(t->sure);
    t->from_us = timeline_offset_us(t, boot_us);
    t->at_us = boot_us;
    t->to_us = offset_us;
}

int64_t timeline_accept(struct timeline *t, int64_t offset_us, int64_t boot_us)
{
    int64_t by_us = offset_us - timeline_offset_us(t, boot_us);
    int64_t now_ms = wall_ms(offset_us, boot_us);
    if (!t->sure || llabs(by_us) / 1000 > TIMELINE_SHAKES_MS)
        t->shaken_ms = now_ms > 0 ? now_ms : 1;
    t->sure = true;
    set(t, offset_us, boot_us);
    t->stepped_us += by_us;
    t->steps = (struct timeline_steps){t->steps.count + 1, by_us / 1000, now_ms};
    return by_us;
}

int64_t timeline_offset_us(const struct timeline *t, int64_t boot_us)
{
    int64_t slowed_us = t->from_us - (boot_us - t->at_us) / TIMELINE_SLOWER;
    return slowed_us > t->to_us ? slowed_us : t->to_us;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

int64_t timeline_median(int64_t *offsets, uint32_t count)
{
    assert(count > 0);
    qsort(offsets, count, sizeof *offsets, by_value);
    return offsets[(count - 1) / 2];
}
