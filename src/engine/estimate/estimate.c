/* estimate.c - when something that waits is likely to start.
 *
 * While slots are free for all that waits, and its limits have room, it starts at once, which
 * needs no more than a few numbers. Else its turn is looked up in the newest forecast
 * (forecast.h). A moment before which it cannot start, a breaker and a calendar come on top. */
#include "engine/estimate/estimate.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/estimate/forecast.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/silence.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"
#include "engine/time/calendars.h"

enum {
    FAR_MS = 60000,     /* what is in the way now says nothing about a moment behind this */
    COUNT_MS = 1000,    /* between two counts of all slots, … */
    RECOUNT_MS = 50,    /* … while there are none */
    CLASSES_MAX = 1000, /* of workers, that are looked at */
};

static struct estimate at(int64_t at_ms)
{
    return (struct estimate){.at_ms = at_ms};
}

static struct estimate unknown(const char *reason)
{
    return (struct estimate){.reason = str_c(reason)};
}

static struct estimate unknown_for(enum blocker_kind kind)
{
    return (struct estimate){.reason = blocker_kind_name(kind)};
}

void estimate_learn(const struct exec *x, int64_t took_ms)
{
    const struct definition_rules *rules = &x->job->v.def->rules;
    if (x->origin == ORIGIN_PING)
        return; /* it took no slot, and no place in a line */
    if (rules->track->learnt != rules->track->lane->learnt)
        usual_learn(&rules->track->learnt->usual, took_ms);
    usual_learn(&rules->track->lane->learnt->usual, took_ms);
    usual_learn(&rules->queue->usual, took_ms);
}

/* ---- slots */

static void count_slots(struct engine *e)
{
    struct worker_classes *all = &e->worker_classes;
    for (size_t i = 0; i < all->by_key.cap; i++) {
        struct worker_class *class = all->by_key.slots[i].value;
        if (class != NULL)
            class->slots = class->own = class->cordoned = 0;
    }
    MAP_EACH(&e->workers, slot)
    {
        struct worker *w = slot->value;
        if (w->v.gone || w->v.draining || worker_is_silent(e, w))
            continue;
        if (w->v.cordon != NULL) {
            w->worker_class->cordoned += w->slots;
        } else {
            w->worker_class->slots += w->slots;
            w->worker_class->own += worker_own_slots(e, w);
        }
    }
    all->counted_ms = e->boot_ms;
}

void estimate_slots(struct engine *e)
{
    int64_t age_ms = e->boot_ms - e->worker_classes.counted_ms;
    if (age_ms >= COUNT_MS || e->worker_classes.counted_ms == 0)
        count_slots(e);
}

struct slots {
    int64_t all;
    int64_t free;     /* of those that this server fills */
    int64_t cordoned; /* of workers that are given nothing new */
};

static struct slots slots_of(const struct engine *e, const struct lane *lane)
{
    const struct strmap *classes = &e->worker_classes.by_key;
    struct slots slots = {0};
    for (size_t i = 0, seen = 0; i < classes->cap && seen < CLASSES_MAX; i++) {
        const struct worker_class *class = classes->slots[i].value;
        seen += class != NULL;
        if (class == NULL || !worker_class_serves(class, lane->queue, lane->handler))
            continue;
        slots.all += class->slots;
        slots.free += later_ms(class->own - class->busy, 0);
        slots.cordoned += class->cordoned;
    }
    return slots;
}

static struct slots slots_for(struct engine *e, const struct lane *lane)
{
    int64_t age_ms = e->boot_ms - e->worker_classes.counted_ms;
    estimate_slots(e);
    struct slots slots = slots_of(e, lane);
    if (slots.all == 0 && age_ms >= RECOUNT_MS) {
        count_slots(e);
        slots = slots_of(e, lane);
    }
    return slots;
}

/* ---- what may start it */

/* The moment from which nothing but other work keeps it; false, with why, when there is none. */
static bool find_base(const struct engine *e, const struct exec *x, int64_t *ret_ms,
                      struct estimate *ret_why)
{
    *ret_ms = e->now_ms;
    if (x->v.state != EXEC_SCHEDULED && x->v.state != EXEC_RETRYING)
        return true;
    *ret_ms = later_ms(x->v.due_ms, e->now_ms);
    if (x->v.state == EXEC_RETRYING)
        return true;
    const struct ruling then = calendars_rule(x->job, *ret_ms);
    if (then.verdict == CALENDAR_SKIPS || (then.verdict != CALENDAR_FREE && then.unreadable)) {
        *ret_why = unknown_for(BLOCKER_CALENDAR);
        return false;
    }
    if (then.verdict != CALENDAR_FREE)
        *ret_ms = then.until_ms;
    return true;
}

/* One of its limits is at home with another server, which alone knows how it stands. */
static bool is_limited_elsewhere(const struct engine *e, const struct exec *x)
{
    const struct queue *queue = x->job->v.def->rules.queue;
    const struct bar *bars = x->job->v.def->rules.track->bars;
    for (size_t i = 0; i < BARS; i++) {
        if (bars[i].limit != NULL && bars[i].limit->remote)
            return true;
    }
    return queue->v.concurrency > 0 && !partition_has_bucket(&e->owned, queue->home);
}

/* Its place in the order of what waits, or the one that it is going to have. */
static struct rank rank_of(struct engine *e, const struct exec *x, int64_t base_ms)
{
    if (x->v.state == EXEC_QUEUED && heap_holds(&x->ready)) {
        const struct heap_item *item = &exec_track(e, x)->heap.items[x->ready.place - 1];
        return (struct rank){item->key, item->tie};
    }
    int64_t ready_ms = later_ms(base_ms, e->newest_ready_ms);
    return (struct rank){ready_rank(&e->ready, x->job->v.def->rules.priority, ready_ms), x->id};
}

static bool is_limited(const struct exec *x)
{
    const struct definition_rules *rules = &x->job->v.def->rules;
    bool limited = rules->queue->v.concurrency > 0;
    for (size_t i = 0; i < BARS; i++)
        limited |= rules->track->bars[i].limit != NULL;
    return limited && !exec_has_permits(x);
}

/* There is a slot for all that waits, and nothing before it that its limits could be for. */
static bool is_free(const struct engine *e, const struct exec *x, const struct slots *slots)
{
    const struct track *track = x->job->v.def->rules.track;
    if (slots->free < later_ms((int64_t)e->ready.len, 1))
        return false;
    return !is_limited(x) ||
           (e->ready.len <= 1 && track_is_open(track) && track->lane->gate == GATE_OPEN);
}

static struct estimate among_others(struct engine *e, const struct exec *x, int64_t base_ms)
{
    const struct track *track = x->job->v.def->rules.track;
    const struct slots slots = PLANTED(estimate_unserved)
                                   ? (struct slots){.all = 1, .free = INT32_MAX}
                                   : slots_for(e, track->lane);
    int64_t wait_ms = 0;
    if (slots.all == 0)
        return unknown_for(slots.cordoned > 0 ? BLOCKER_WORKERS_CORDONED : BLOCKER_NO_WORKER);
    const struct served served = {slots.all, slots.free};
    if (!is_free(e, x, &slots) &&
        !forecast_wait_ms(e, x, rank_of(e, x, base_ms), &served, &wait_ms))
        return unknown("duration_unknown");
    base_ms = later_ms(base_ms, e->now_ms + wait_ms);
    if (track->breaker != NULL && !breaker_lets_start(track->breaker))
        base_ms = later_ms(base_ms, e->now_ms + track->breaker->v.wake_ms - e->boot_ms);
    return at(PLANTED(estimate_in_past) && x->v.ready_ms > 0 ? x->v.ready_ms + wait_ms : base_ms);
}

struct estimate estimate_start(struct engine *e, const struct exec *x)
{
    struct estimate why;
    int64_t base_ms;
    if (exec_is_final(x->v.state))
        return unknown_for(BLOCKER_FINISHED);
    if (exec_is_leased(x->v.state))
        return unknown("started");
    if (x->origin == ORIGIN_PING)
        return unknown_for(BLOCKER_PING);
    if (x->job->v.state == JOB_PAUSED)
        return unknown_for(BLOCKER_JOB_PAUSED);
    if (x->job->v.def->rules.queue->v.paused && !PLANTED(estimate_of_paused))
        return unknown_for(BLOCKER_QUEUE_PAUSED);
    if (x->v.state == EXEC_BLOCKED)
        return unknown_for(x->waits_for > 0 ? BLOCKER_DEPENDENCY : BLOCKER_OVERLAP);
    if (!find_base(e, x, &base_ms, &why))
        return why;
    if (base_ms - e->now_ms > FAR_MS)
        return at(base_ms);
    if (exec_is_suspect(x))
        return unknown_for(BLOCKER_PROBATION);
    if (!exec_has_permits(x) && is_limited_elsewhere(e, x))
        return unknown_for(BLOCKER_PERMIT);
    return among_others(e, x, base_ms);
}
