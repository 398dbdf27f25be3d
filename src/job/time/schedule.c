#include "job/time/schedule.h"
#include "base/rng.h"
#include "base/when.h"

#include <assert.h>

const struct misfire misfire_default = {
    .policy = MISFIRE_LATEST,
    .grace_ms = INT64_C(24) * 3600 * 1000,
    .limit = 100,
};

/* ---- making one */

struct schedule schedule_at(int64_t at_ms)
{
    return (struct schedule){.kind = SCHEDULE_ONCE, .start_ms = at_ms};
}

struct schedule schedule_delay(int64_t made_ms, int64_t delay_ms)
{
    return schedule_at(made_ms + delay_ms);
}

struct schedule schedule_every(int64_t made_ms, int64_t every_ms)
{
    assert(every_ms > 0);
    return (struct schedule){.kind = SCHEDULE_EVERY, .start_ms = made_ms, .every_ms = every_ms};
}

struct schedule schedule_cron(int64_t made_ms, const struct cron *cron,
                              const struct cron_clock *clock)
{
    return (struct schedule){
        .kind = cron->every_ms > 0 ? SCHEDULE_EVERY : SCHEDULE_CRON,
        .start_ms = made_ms,
        .every_ms = cron->every_ms,
        .cron = *cron,
        .clock = *clock,
    };
}

enum rc schedule_zone_name(struct str prefix, struct str timezone, struct str *ret_name,
                           struct err *err)
{
    if (prefix.len > 0 && timezone.len > 0 && !str_eq(prefix, timezone))
        return err_set(err, RC_INVALID,
                       "CRON_TZ= in the expression and the timezone beside it name two zones");
    *ret_name = prefix.len > 0 ? prefix : timezone.len > 0 ? timezone : STR("UTC");
    return RC_OK;
}

int64_t schedule_stagger_ms(uint64_t job_id, int64_t stagger_ms)
{
    struct rng rng = {.state = job_id};
    return stagger_ms <= 0 ? 0 : (int64_t)rng_below(&rng, (uint64_t)stagger_ms);
}

int64_t schedule_due_ms(const struct schedule *s, const struct slot *slot)
{
    return slot->at_ms + s->stagger_ms;
}

/* ---- milliseconds and seconds */

static int64_t floor_s(int64_t ms)
{
    return ms / 1000 - (ms % 1000 < 0);
}

/* Beyond the years that can be written there are no slots, so nothing is lost at the edges. */
static int64_t clamp_ms(int64_t ms)
{
    return ms < WHEN_MIN_MS ? WHEN_MIN_MS : ms > WHEN_MAX_MS ? WHEN_MAX_MS : ms;
}

static struct cron_slot to_cron(const struct slot *slot)
{
    return (struct cron_slot){
        .at_s = floor_s(clamp_ms(slot->at_ms)),
        .nominal_s = floor_s(slot->nominal_ms),
        .again = slot->again,
    };
}

static struct slot from_cron(const struct cron_slot *slot)
{
    return (struct slot){slot->at_s * 1000, slot->nominal_s * 1000, slot->again};
}

static bool next_cron(const struct schedule *s, const struct cron_slot *after,
                      struct slot *ret_slot)
{
    struct cron_slot found;
    if (!cron_next(&s->cron, &s->clock, after, &found))
        return false;
    *ret_slot = from_cron(&found);
    return true;
}

static bool at_moment(int64_t at_ms, struct slot *ret_slot)
{
    *ret_slot = (struct slot){.at_ms = at_ms, .nominal_ms = at_ms};
    return at_ms <= WHEN_MAX_MS;
}

struct slot schedule_slot(const struct schedule *s, int64_t at_ms, int64_t nominal_ms)
{
    struct slot slot = {.at_ms = at_ms, .nominal_ms = nominal_ms};
    if (s->kind == SCHEDULE_CRON) {
        struct zone_moments m = zone_from_local(s->clock.zone, floor_s(nominal_ms));
        slot.again = m.fit == ZONE_FOLD && m.last_s == floor_s(at_ms);
    }
    return slot;
}

/* ---- one slot after the other */

bool schedule_after(const struct schedule *s, int64_t from_ms, struct slot *ret_slot)
{
    from_ms = clamp_ms(from_ms);
    if (s->kind == SCHEDULE_ONCE)
        return s->start_ms > from_ms && at_moment(s->start_ms, ret_slot);
    if (from_ms < s->start_ms)
        from_ms = s->start_ms;
    if (s->kind == SCHEDULE_EVERY)
        return at_moment(s->start_ms + ((from_ms - s->start_ms) / s->every_ms + 1) * s->every_ms,
                         ret_slot);
    struct cron_slot after = cron_from(floor_s(from_ms));
    return next_cron(s, &after, ret_slot);
}

bool schedule_after_any(const struct schedule *s, int64_t from_ms, struct slot *ret_slot)
{
    struct schedule older = *s;
    from_ms = clamp_ms(from_ms);
    if (s->kind == SCHEDULE_CRON)
        older.start_ms = from_ms;
    else if (s->kind == SCHEDULE_EVERY &&
             s->start_ms > from_ms) /* the same moments, further back */
        older.start_ms -= ((s->start_ms - from_ms) / s->every_ms + 1) * s->every_ms;
    return schedule_after(&older, from_ms, ret_slot);
}

bool schedule_first(const struct schedule *s, struct slot *ret_slot)
{
    if (s->kind == SCHEDULE_ONCE)
        return at_moment(s->start_ms, ret_slot);
    return schedule_after(s, s->start_ms, ret_slot);
}

bool schedule_next(const struct schedule *s, const struct slot *last, struct slot *ret_slot)
{
    if (s->kind == SCHEDULE_ONCE)
        return false;
    if (s->kind == SCHEDULE_EVERY)
        return at_moment(clamp_ms(last->at_ms) + s->every_ms, ret_slot);
    struct cron_slot after = to_cron(last);
    return next_cron(s, &after, ret_slot);
}

/* A slot that follows real time is known by its moment: it stays while that is one of its slots,
 * also where that lies before the schedule begins, since a clock was set back and the schedule
 * changed then. */
static bool resettle_real_time(const struct schedule *s, const struct slot *ahead, int64_t from_ms,
                               struct slot *ret_slot)
{
    struct schedule endless = *s;
    endless.start_ms = 0;
    return (schedule_after(&endless, ahead->at_ms - 1, ret_slot) &&
            ret_slot->at_ms == ahead->at_ms) ||
           schedule_after(&endless, from_ms, ret_slot);
}

bool schedule_resettle(const struct schedule *s, const struct slot *ahead, int64_t from_ms,
                       struct slot *ret_slot)
{
    *ret_slot = *ahead;
    if (s->kind != SCHEDULE_CRON)
        return true;
    if (s->cron.real_time)
        return resettle_real_time(s, ahead, from_ms, ret_slot);
    int64_t nominal_s = floor_s(ahead->nominal_ms);
    struct zone_moments m = zone_from_local(s->clock.zone, nominal_s);
    bool second = ahead->again && s->clock.fold == CRON_FOLD_BOTH; /* the first was kept */
    struct cron_slot after = {
        .at_s = (second ? m.last_s : m.first_s - 2 * 86400) - 1, /* before any gap it may be in */
        .nominal_s = second ? nominal_s : nominal_s - 1,
        .again = !second,
    };
    return next_cron(s, &after, ret_slot);
}

int64_t schedule_interval_ms(const struct schedule *s)
{
    struct slot slot;
    struct slot next;
    int64_t shortest_ms = 0;
    if (s->kind == SCHEDULE_EVERY)
        return s->every_ms;
    if (!schedule_first(s, &slot))
        return 0;
    for (int i = 0; i < SCHEDULE_GAPS && schedule_next(s, &slot, &next); i++, slot = next) {
        if (shortest_ms == 0 || next.at_ms - slot.at_ms < shortest_ms)
            shortest_ms = next.at_ms - slot.at_ms;
    }
    return shortest_ms;
}

uint64_t schedule_count(const struct schedule *s, const struct slot *last, int64_t until_ms)
{
    until_ms = clamp_ms(until_ms);
    if (s->kind == SCHEDULE_ONCE || until_ms <= last->at_ms)
        return 0;
    if (s->kind == SCHEDULE_EVERY)
        return (uint64_t)(until_ms - last->at_ms) / (uint64_t)s->every_ms;
    struct cron_slot after = to_cron(last);
    return cron_count(&s->cron, &s->clock, &after, floor_s(until_ms));
}

/* ---- after downtime */

/* The slot that stands n places behind first, which has so many followers until until_ms. */
static struct slot slot_behind(const struct schedule *s, const struct slot *first, uint64_t n,
                               int64_t until_ms)
{
    struct slot found = *first;
    if (n == 0 || s->kind == SCHEDULE_ONCE)
        return found;
    if (s->kind == SCHEDULE_EVERY) {
        (void)at_moment(first->at_ms + (int64_t)n * s->every_ms, &found);
        return found;
    }
    /* n are not reached by too_early and are by enough: the slot is at the first second that is. */
    int64_t too_early = floor_s(first->at_ms);
    int64_t enough = floor_s(until_ms);
    struct cron_slot after = to_cron(first);
    while (enough - too_early > 1) {
        int64_t middle = too_early + (enough - too_early) / 2;
        if (cron_count(&s->cron, &s->clock, &after, middle) >= n)
            enough = middle;
        else
            too_early = middle;
    }
    after.at_s = too_early;
    (void)next_cron(s, &after, &found);
    return found;
}

/* How many slots there are from due on, until_ms included. */
static uint64_t count_until(const struct schedule *s, const struct slot *due, int64_t until_ms)
{
    return due->at_ms > until_ms ? 0 : 1 + schedule_count(s, due, until_ms);
}

static uint64_t count_to_fire(const struct schedule *s, const struct slot *due, int64_t now_ms,
                              const struct misfire *misfire, uint64_t total)
{
    switch (misfire->policy) {
    case MISFIRE_LATEST: return 1;
    case MISFIRE_ALL: return misfire->limit;
    default: return total > count_until(s, due, now_ms - SCHEDULE_STALL_MS - 1);
    }
}

static struct slot_range range_of(const struct schedule *s, const struct slot *due, uint64_t from,
                                  uint64_t count, int64_t now_ms)
{
    struct slot_range range = {.count = count};
    if (count == 0)
        return range;
    range.first = slot_behind(s, due, from, now_ms);
    range.last = count == 1 ? range.first : slot_behind(s, due, from + count - 1, now_ms);
    return range;
}

struct slot_range schedule_range(const struct schedule *s, const struct slot *first,
                                 int64_t until_ms)
{
    until_ms = clamp_ms(until_ms);
    return range_of(s, first, 0, count_until(s, first, until_ms), until_ms);
}

void schedule_catch_up(const struct schedule *s, const struct slot *due, int64_t now_ms,
                       const struct misfire *misfire, struct catch_up *ret_plan)
{
    now_ms = clamp_ms(now_ms - s->stagger_ms); /* from here on slots, not runs, are compared */
    assert(due->at_ms <= now_ms && misfire->limit > 0);
    uint64_t total = count_until(s, due, now_ms);
    uint64_t expired = count_until(s, due, now_ms - misfire->grace_ms - 1);
    uint64_t fire = count_to_fire(s, due, now_ms, misfire, total);
    if (fire > total - expired)
        fire = total - expired;
    uint64_t passed = total - expired - fire;
    ret_plan->expired = range_of(s, due, 0, expired, now_ms);
    ret_plan->passed = range_of(s, due, expired, passed, now_ms);
    ret_plan->fire = range_of(s, due, expired + passed, fire, now_ms);
    const struct slot_range *newest = fire > 0     ? &ret_plan->fire
                                      : passed > 0 ? &ret_plan->passed
                                                   : &ret_plan->expired;
    ret_plan->has_next = schedule_next(s, &newest->last, &ret_plan->next);
}
