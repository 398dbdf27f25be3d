#include "server/metrics/slot_gaps.h"
#include "base/arena.h"

#include <stdlib.h>

static bool is_of_slot(const struct exec_rec *x)
{
    return x->origin != ORIGIN_REQUEST && x->retry_of == 0;
}

static int by_slot(const void *a, const void *b)
{
    const struct exec_rec *left = *(const struct exec_rec *const *)a;
    const struct exec_rec *right = *(const struct exec_rec *const *)b;
    return left->slot_ms < right->slot_ms ? -1 : left->slot_ms > right->slot_ms;
}

static int64_t last_of(const struct exec_rec *x)
{
    return x->slot_last_ms > 0 ? x->slot_last_ms : x->slot_ms;
}

/* Of a record that stands for several only the moment of the last one is known. For a cron that is
 * enough; the slots of an interval follow one another from whenever it was that they began. */
static bool find_next(const struct schedule *schedule, const struct exec_rec *x,
                      struct slot *ret_slot)
{
    if (x->slot_last_ms > 0 && schedule->kind == SCHEDULE_CRON)
        return schedule_after(schedule, x->slot_last_ms, ret_slot);
    struct slot slot = schedule_slot(schedule, last_of(x), x->nominal_ms);
    return schedule_next(schedule, &slot, ret_slot);
}

/* The slots between two records. After the clock was set back, the one may reach behind the other,
 * and there are none. */
static void add_between(const struct schedule *schedule, const struct exec_rec *before,
                        const struct exec_rec *after, struct slot_gap *gap)
{
    struct slot next;
    if (!find_next(schedule, before, &next) || next.at_ms >= after->slot_ms)
        return;
    struct slot_range range = schedule_range(schedule, &next, after->slot_ms - 1);
    if (range.count > 0 && gap->count == 0)
        gap->first_ms = next.at_ms;
    gap->count += range.count;
}

static int64_t floor_at(const struct slot_floor *floor, int64_t now_ms)
{
    int64_t kept_ms = floor->keep_ms == 0 ? INT64_MIN : now_ms - floor->keep_ms;
    int64_t same_ms = floor->changed_ms > floor->stepped_ms ? floor->changed_ms : floor->stepped_ms;
    return kept_ms > same_ms ? kept_ms : same_ms;
}

struct slot_gap slot_gaps_find(const struct schedule *schedule, const struct exec_rec *execs,
                               size_t count, const struct slot_floor *floor, int64_t now_ms,
                               struct arena *arena)
{
    int64_t floor_ms = floor_at(floor, now_ms);
    struct slot_gap gap = {0};
    const struct exec_rec *newest = NULL; /* the one that reaches furthest */
    const struct exec_rec **slots = ARENA_ARRAY(arena, const struct exec_rec *, count + 1);
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_ahead = execs[i].state == EXEC_SCHEDULED;
        if (is_of_slot(&execs[i]) && execs[i].slot_ms >= floor_ms &&
            (is_ahead || execs[i].slot_ms <= now_ms))
            slots[len++] = &execs[i];
    }
    qsort(slots, len, sizeof *slots, by_slot);
    for (size_t i = 0; i < len; i++) {
        if (newest != NULL)
            add_between(schedule, newest, slots[i], &gap);
        if (newest == NULL || last_of(slots[i]) >= last_of(newest))
            newest = slots[i];
    }
    return gap;
}
