/* estimate.c - when something that waits is likely to start.
 *
 * Each thing that serves work has places, and a line before it: workers have slots, a concurrency
 * limit has permits. While all places are taken, one becomes free every usual / places, so a line
 * of n moves to its front in n times that; the latest of all lines is the estimate. That is right
 * for a queue that is busy, and off by at most about a run for a burst. */
#include "engine/ready/estimate.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/silence.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"
#include "engine/time/calendars.h"

enum {
    FAR_MS = 60000,     /* what is in the way now says nothing about a moment behind this */
    COUNT_MS = 1000,    /* between two counts of all slots, … */
    RECOUNT_MS = 50,    /* … while there are none */
    LOOK_MAX = 32,      /* of a track, for those that come before it */
    TRACKS_MAX = 8,     /* of a lane, that are looked at */
    LEARNT_OF = 8,      /* a run changes what is usual by one part of so many */
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

static int64_t later_ms(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

/* ---- what is usual */

static void learn(int64_t *usual_ms, int64_t took_ms)
{
    *usual_ms = *usual_ms == 0 ? took_ms : *usual_ms + (took_ms - *usual_ms) / LEARNT_OF;
}

void estimate_learn(const struct exec *x, int64_t took_ms)
{
    took_ms = later_ms(took_ms, 1);
    learn(&x->job->v.def->rules.track->lane->usual_ms, took_ms);
    learn(&x->job->v.def->rules.queue->usual_ms, took_ms);
}

/* A lane goes with its last job, its queue stays for a while. */
static int64_t usual_ms(const struct job *job)
{
    int64_t lane_ms = job->v.def->rules.track->lane->usual_ms;
    return lane_ms > 0 ? lane_ms : job->v.def->rules.queue->usual_ms;
}

/* ---- lines */

/* How long those that stand in it wait until `ahead` and one more have had a place. -1: it is not
 * known how long a place is taken. */
static int64_t line_ms(int64_t ahead, int64_t taken, int64_t places, int64_t usual)
{
    int64_t free = places > taken ? places - taken : 0;
    if (ahead < free)
        return 0;
    if (PLANTED(estimate_piles_up))
        return (ahead - free + 1) * usual * (places + 1);
    return usual == 0 ? -1 : (ahead - free + 1) * usual / places;
}

struct ahead {
    int64_t track; /* of its own track */
    int64_t lane;  /* of all that may start */
};

/* Exact for the first of a track, and as if it were the last one otherwise. */
static int64_t count_before(const struct heap *heap, const struct heap_item *place)
{
    size_t count = place == NULL ? heap->len : heap_count_before(heap, place, LOOK_MAX);
    return (int64_t)(count < LOOK_MAX ? count : heap->len);
}

static struct ahead count_ahead(struct engine *e, const struct exec *x)
{
    const struct track *own = x->job->v.def->rules.track;
    const struct heap_item *place = NULL;
    if (x->v.state == EXEC_QUEUED && heap_holds(&x->ready)) {
        own = exec_track(e, x);
        place = &own->heap.items[x->ready.place - 1];
    }
    int64_t before = count_before(&own->heap, place);
    int64_t others = place == NULL ? (int64_t)own->heap.len : (int64_t)own->heap.len - 1;
    struct ahead ahead = {.track = before < others ? before : others};
    ahead.lane = ahead.track;
    const struct heap *tracks = &own->lane->heap;
    for (uint32_t i = 0; i < tracks->len && i < TRACKS_MAX; i++) {
        const struct track *track = CONTAINER_OF(tracks->items[i].node, struct track, order);
        if (track != own)
            ahead.lane += count_before(&track->heap, place);
    }
    return ahead;
}

/* ---- slots */

static void count_slots(struct engine *e)
{
    struct worker_classes *all = &e->worker_classes;
    for (size_t i = 0; i < all->by_key.cap; i++) {
        struct worker_class *class = all->by_key.slots[i].value;
        if (class != NULL)
            class->slots = class->cordoned = 0;
    }
    MAP_EACH(&e->workers, slot)
    {
        struct worker *w = slot->value;
        if (w->v.gone || w->v.draining || worker_is_silent(e, w))
            continue;
        if (w->v.cordon == NULL)
            w->worker_class->slots += w->slots;
        else
            w->worker_class->cordoned += w->slots;
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
    int64_t busy;
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
        slots.busy += class->busy;
        slots.cordoned += class->cordoned;
    }
    return slots;
}

/* Several servers fill the same slots, each as much as it owns. */
static struct slots slots_for(struct engine *e, const struct lane *lane)
{
    int64_t age_ms = e->boot_ms - e->worker_classes.counted_ms;
    estimate_slots(e);
    struct slots slots = slots_of(e, lane);
    if (slots.all == 0 && age_ms >= RECOUNT_MS) {
        count_slots(e);
        slots = slots_of(e, lane);
    }
    if (slots.all > 0)
        slots.all = later_ms(slots.all * partition_set_len(&e->owned) / e->owned.count, 1);
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

static int64_t rate_ms(const struct engine *e, const struct bar *bar, int64_t ahead)
{
    int64_t next_ms = later_ms(bar->limit->v.next_us / 1000, e->now_ms);
    return next_ms + ahead * bar->interval_us / 1000;
}

/* The longest of the lines before limits; -1: it is not known how long a place is taken. */
static int64_t limits_ms(const struct exec *x, const struct ahead *ahead, int64_t usual)
{
    const struct queue *queue = x->job->v.def->rules.queue;
    const struct bar *bars = x->job->v.def->rules.track->bars;
    const struct {
        int64_t ahead;
        int64_t taken;
        int64_t places;
    } lines[] = {
        {ahead->lane, queue->held, queue->v.concurrency},
        {ahead->track, bars[BAR_CONCURRENCY].limit == NULL ? 0 : bars[BAR_CONCURRENCY].limit->held,
         bars[BAR_CONCURRENCY].max},
        {ahead->track, bars[BAR_TEAM].limit == NULL ? 0 : bars[BAR_TEAM].limit->held,
         bars[BAR_TEAM].limit == NULL ? 0 : bars[BAR_TEAM].limit->v.max},
    };
    int64_t longest_ms = 0;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        int64_t ms = lines[i].places == 0
                         ? 0
                         : line_ms(lines[i].ahead, lines[i].taken, lines[i].places, usual);
        if (ms < 0)
            return -1;
        longest_ms = later_ms(longest_ms, ms);
    }
    return longest_ms;
}

/* One of its limits is at home with another server, which alone knows how it stands. */
static bool is_limited_elsewhere(const struct exec *x)
{
    const struct bar *bars = x->job->v.def->rules.track->bars;
    for (size_t i = 0; i < BARS; i++) {
        if (bars[i].limit != NULL && bars[i].limit->remote)
            return true;
    }
    return false;
}

static struct estimate among_others(struct engine *e, const struct exec *x, int64_t base_ms)
{
    const struct track *track = x->job->v.def->rules.track;
    const struct slots slots =
        PLANTED(estimate_unserved) ? (struct slots){.all = 1} : slots_for(e, track->lane);
    if (slots.all == 0)
        return unknown_for(slots.cordoned > 0 ? BLOCKER_WORKERS_CORDONED : BLOCKER_NO_WORKER);
    const struct ahead ahead = count_ahead(e, x);
    int64_t usual = usual_ms(x->job);
    int64_t wait_ms = line_ms(ahead.lane, slots.busy, slots.all, usual);
    int64_t limits = exec_has_permits(x) ? 0 : limits_ms(x, &ahead, usual);
    if (wait_ms < 0 || limits < 0)
        return unknown("duration_unknown");
    base_ms = later_ms(base_ms, e->now_ms + later_ms(wait_ms, limits));
    if (track->bars[BAR_RATE].limit != NULL && !exec_has_permits(x))
        base_ms = later_ms(base_ms, rate_ms(e, &track->bars[BAR_RATE], ahead.track));
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
    if (!exec_has_permits(x) && is_limited_elsewhere(x))
        return unknown_for(BLOCKER_PERMIT);
    return among_others(e, x, base_ms);
}
