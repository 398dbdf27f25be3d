#include "engine/ready/ready.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/plant.h"
#include "job/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANE_KEY_MAX = 2 * SPEC_NAME_MAX + 1,
    TRACK_KEY_MAX =
        LANE_KEY_MAX + 3 * (SPEC_NAME_MAX + 3 + (int)sizeof(struct limit_rule)) + 2 + SPEC_NAME_MAX,
};

void ready_init(struct ready *r, int64_t point_ms, const struct breaker_rule *rule)
{
    *r = (struct ready){.point_ms = point_ms, .breakers.rule = *rule};
    list_init(&r->fresh);
    list_init(&r->waiting);
    learnt_init(&r->learnt);
}

static void free_lanes(struct strmap *lanes)
{
    for (size_t i = 0; i < lanes->cap; i++) {
        struct lane *lane = lanes->slots[i].value;
        if (lane != NULL) {
            heap_free(&lane->heap);
            heap_free(&lane->twins);
            free(lane);
        }
    }
    strmap_free(lanes);
}

void ready_free(struct ready *r)
{
    for (size_t i = 0; i < r->tracks.cap; i++) {
        struct track *track = r->tracks.slots[i].value;
        if (track != NULL) {
            heap_free(&track->heap);
            free(track);
        }
    }
    strmap_free(&r->tracks);
    free_lanes(&r->lanes);
    free_lanes(&r->shadows);
    learnt_free(&r->learnt);
    limits_free(&r->limits);
    breakers_free(&r->breakers);
    heap_free(&r->order);
}

/* ---- lanes */

/* queue and handler in one text; also what lane_key makes of a lane. */
static struct str make_lane_key(char *bytes, struct str queue, struct str handler)
{
    struct buf key = {.ptr = bytes, .cap = LANE_KEY_MAX, .max = LANE_KEY_MAX};
    buf_add(&key, queue);
    buf_add_char(&key, '\n'); /* in no name */
    buf_add(&key, handler);
    assert(!key.overflow);
    return buf_str(&key);
}

static struct str lane_key(const struct lane *lane)
{
    return str_of(lane->queue.ptr, lane->queue.len + 1 + lane->handler.len);
}

static struct lane *lane_new(struct str key, size_t queue_len)
{
    struct lane *lane = mem_new(sizeof *lane + key.len);
    char *text = (char *)(lane + 1);
    memcpy(text, key.ptr, key.len);
    lane->queue = str_of(text, queue_len);
    lane->handler = str_of(text + queue_len + 1, key.len - queue_len - 1);
    list_init(&lane->tracks);
    return lane;
}

/* Made when new; NULL when that would be one too many. */
static struct lane *lane_of(struct ready *r, const struct rules *rules, size_t lanes_max)
{
    char bytes[LANE_KEY_MAX];
    struct str key = make_lane_key(bytes, rules->queue, rules->handler);
    struct lane *lane = strmap_get(&r->lanes, key);
    if (lane == NULL) {
        if (r->lanes.len >= lanes_max)
            return NULL;
        lane = lane_new(key, rules->queue.len);
        lane->learnt = learnt_join(&r->learnt, lane_key(lane));
        strmap_put(&r->lanes, lane_key(lane), lane);
    }
    return lane;
}

static void lane_leave(struct ready *r, struct track *track)
{
    struct lane *lane = track->lane;
    list_remove(&track->sibling);
    if (!list_empty(&lane->tracks))
        return;
    assert(lane->heap.len == 0 && lane->twins.len == 0);
    list_remove(&lane->sibling);
    strmap_remove(lane->suspects ? &r->shadows : &r->lanes, lane_key(lane));
    if (lane->learnt != NULL)
        learnt_leave(&r->learnt, lane->learnt);
    heap_free(&lane->heap);
    heap_free(&lane->twins);
    free(lane);
}

/* Whichever comes first; NULL never does. */
static const struct heap_item *better(const struct heap_item *a, const struct heap_item *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    bool first = a->key != b->key ? a->key < b->key : a->tie < b->tie;
    return first ? a : b;
}

/* The track with the best that the gate lets out; NULL: there is none. */
static const struct heap_item *lane_best(const struct lane *lane)
{
    switch (lane->gate) {
    case GATE_OPEN: return better(heap_min(&lane->heap), heap_min(&lane->twins));
    case GATE_FULL: return PLANTED(full_queue_holds_permits) ? NULL : heap_min(&lane->twins);
    case GATE_PAUSED: break;
    }
    return NULL;
}

/* The best of the lane is another one now, or may not be had any more. */
static void reorder_lane(struct ready *r, struct lane *lane)
{
    const struct heap_item *best = lane_best(lane);
    if (best == NULL) {
        heap_remove(&r->order, &lane->order);
        list_remove(&lane->fresh);
    } else {
        heap_set(&r->order, &lane->order, best->key, best->tie);
    }
}

static void freshen(struct ready *r, struct lane *lane)
{
    if (heap_holds(&lane->order) && !list_linked(&lane->fresh))
        list_push_back(&r->fresh, &lane->fresh);
}

void ready_gate(struct ready *r, struct lane *lane, enum gate gate)
{
    bool opens = gate < lane->gate;
    lane->gate = gate;
    reorder_lane(r, lane);
    if (opens)
        freshen(r, lane);
}

/* ---- tracks */

/* Names hold no line breaks, and numbers are as long as they are in memory: so no two keys are the
 * same by chance, and making one, which every job needs, formats nothing. */
static void add_rule(struct buf *key, char kind, const struct limit_rule *rule)
{
    if (rule->key.len == 0)
        return;
    buf_add_char(key, '\n');
    buf_add_char(key, kind);
    buf_add(key, rule->key);
    buf_add_char(key, '\n');
    buf_add(key, str_of((const char *)&rule->limit, sizeof rule->limit));
    buf_add(key, str_of((const char *)&rule->per_ms, sizeof rule->per_ms));
}

/* Jobs share a track when they share everything that decides about their start. */
static struct str make_track_key(char *bytes, const struct rules *rules)
{
    struct buf key = {.ptr = bytes, .cap = TRACK_KEY_MAX, .max = TRACK_KEY_MAX};
    buf_add(&key, rules->queue);
    buf_add_char(&key, '\n');
    buf_add(&key, rules->handler);
    add_rule(&key, 'c', &rules->concurrency);
    add_rule(&key, 'r', &rules->rate);
    add_rule(&key, 't', &(struct limit_rule){.key = rules->team});
    if (rules->breaker.name.len > 0) {
        buf_add(&key, STR("\nb"));
        buf_add(&key, rules->breaker.name);
    } else if (rules->breaker.none && rules->handler.len > 0) { /* a command has none anyway */
        buf_add(&key, STR("\nn"));
    }
    assert(!key.overflow);
    return buf_str(&key);
}

static void set_breaker(struct ready *r, struct track *track, const struct rules *rules)
{
    char text[SPEC_TARGET_MAX];
    struct str target = rules_target(rules, text);
    if (target.len == 0 || r->breakers.rule.percent == 0)
        return;
    track->breaker = breaker_join(&r->breakers, target);
    list_push_back(&track->breaker->tracks, &track->on_breaker);
}

static struct track *track_new(struct ready *r, struct str key, const struct rules *rules,
                               struct lane *lane)
{
    struct track *track = mem_new(sizeof *track + key.len);
    memcpy(track + 1, key.ptr, key.len);
    track->key = str_of((char *)(track + 1), key.len);
    track->lane = lane;
    list_push_back(&lane->tracks, &track->sibling);
    track->learnt = learnt_join(&r->learnt, key);
    bars_set(&r->limits, track, rules);
    set_breaker(r, track, rules);
    strmap_put(&r->tracks, track->key, track);
    return track;
}

struct track *ready_join(struct ready *r, const struct rules *rules, size_t lanes_max)
{
    char bytes[TRACK_KEY_MAX];
    struct str key = make_track_key(bytes, rules);
    struct track *track = strmap_get(&r->tracks, key);
    if (track == NULL) {
        struct lane *lane = lane_of(r, rules, lanes_max);
        if (lane == NULL)
            return NULL;
        track = track_new(r, key, rules, lane);
    }
    track->members++;
    return track;
}

static void track_free(struct ready *r, struct track *track)
{
    assert(track->heap.len == 0 && track->twin == NULL && track->shadow == NULL);
    bars_leave(&r->limits, track);
    if (track->learnt != NULL)
        learnt_leave(&r->learnt, track->learnt);
    if (track->breaker != NULL) {
        list_remove(&track->on_breaker);
        breaker_leave(&r->breakers, track->breaker);
    }
    lane_leave(r, track);
    strmap_remove(&r->tracks, track->key);
    heap_free(&track->heap);
    free(track);
}

void ready_leave(struct ready *r, struct track *track)
{
    assert(track->members > 0);
    if (--track->members == 0)
        track_free(r, track);
}

bool track_is_open(const struct track *track)
{
    for (size_t i = 0; i < BARS; i++) {
        if (!bar_is_open(&track->bars[i]))
            return false;
    }
    return track->breaker == NULL || breaker_lets_start(track->breaker);
}

/* The best of the track is another one now, or may not be had any more. */
static void reorder_track(struct ready *r, struct track *track)
{
    struct lane *lane = track->lane;
    struct heap *heap = track->main == NULL ? &lane->heap : &lane->twins;
    const struct heap_item *best = track_is_open(track) ? heap_min(&track->heap) : NULL;
    if (best == NULL)
        heap_remove(heap, &track->order);
    else
        heap_set(heap, &track->order, best->key, best->tie);
    reorder_lane(r, lane);
}

/* The track may have been opened, or shut. */
static void settle_track(struct ready *r, struct track *track)
{
    bool was_open = heap_holds(&track->order);
    if (track->heap.len == 0 || was_open == track_is_open(track))
        return;
    reorder_track(r, track);
    if (!was_open)
        freshen(r, track->lane);
}

static void settle_rung(struct ready *r, const struct rung *rung)
{
    LIST_EACH(&rung->waiting, node)
    {
        settle_track(r, CONTAINER_OF(node, struct bar, on_rung)->track);
    }
}

static void settle(struct ready *r, const struct limit *limit)
{
    for (size_t i = 0; i < limit->rungs.len; i++)
        settle_rung(r, limit->rungs.items[i]);
}

/* One lease more, or less. Tracks are looked at only when the last permit of their bar goes or
 * comes back: a limit may have very many, and leases come and go by the thousand. */
static void count_lease(struct ready *r, struct limit *limit, uint32_t held)
{
    uint32_t least = limit->held < held ? limit->held : held;
    bool team = limit->kind == LIMIT_TEAM;
    const struct rung *rung = NULL;
    limit->held = held;
    if (!team || limit->v.max == least + 1)
        rung = rung_at(&limit->rungs, team ? 0 : least + 1);
    if (rung != NULL)
        settle_rung(r, rung);
}

void ready_hold(struct ready *r, struct track *track)
{
    for (size_t i = 0; i < BARS; i++) {
        struct limit *limit = track->bars[i].limit;
        if (limit != NULL && limit->kind != LIMIT_RATE)
            count_lease(r, limit, limit->held + 1);
    }
}

void ready_release(struct ready *r, struct track *track)
{
    for (size_t i = 0; i < BARS; i++) {
        struct limit *limit = track->bars[i].limit;
        if (limit == NULL || limit->kind == LIMIT_RATE)
            continue;
        assert(limit->held > 0);
        count_lease(r, limit, limit->held - 1);
    }
}

void ready_lend(struct ready *r, struct limit *limit, int by)
{
    assert(by >= 0 || limit->lent >= (uint32_t)-by);
    limit->lent += (uint32_t)by;
    for (; by > 0; by--)
        count_lease(r, limit, limit->held + 1);
    for (; by < 0; by++)
        count_lease(r, limit, limit->held - 1);
}

void ready_want_rate(struct ready *r, struct track *track, int by)
{
    struct limit *limit = track->bars[BAR_RATE].limit;
    if (limit != NULL && limit->remote)
        ready_lend(r, limit, by);
}

void ready_limit(struct ready *r, struct limit *limit, const struct limit_values *to)
{
    bool same = limit->kind == LIMIT_RATE && limit->v.shut == to->shut;
    limit_set(&r->limits, limit, to);
    if (!same)
        settle(r, limit);
}

void ready_breaker(struct ready *r, struct breaker *b, const struct breaker_values *to)
{
    bool was_open = breaker_lets_start(b);
    breaker_set(&r->breakers, b, to);
    if (breaker_lets_start(b) == was_open)
        return;
    LIST_EACH(&b->tracks, node) settle_track(r, CONTAINER_OF(node, struct track, on_breaker));
}

/* ---- work */

/* A track beside this one, of the same target; the mark tells its key from that of the other. */
static struct track *track_beside(struct ready *r, const struct track *track, struct str mark,
                                  struct lane *lane)
{
    size_t len = track->key.len + mark.len;
    struct track *beside = mem_new(sizeof *beside + len);
    char *key = (char *)(beside + 1);
    memcpy(key, track->key.ptr, track->key.len);
    memcpy(key + track->key.len, mark.ptr, mark.len);
    beside->key = str_of(key, len);
    beside->lane = lane;
    list_push_back(&lane->tracks, &beside->sibling);
    if (track->breaker != NULL) {
        beside->breaker = breaker_join(&r->breakers, track->breaker->target);
        list_push_back(&beside->breaker->tracks, &beside->on_breaker);
    }
    strmap_put(&r->tracks, beside->key, beside);
    return beside;
}

struct track *ready_twin(struct ready *r, struct track *track)
{
    if (track->twin == NULL) {
        track->twin = track_beside(r, track, STR("\n+"), track->lane);
        track->twin->main = track;
    }
    return track->twin;
}

static struct lane *shadow_lane(struct ready *r, const struct lane *of)
{
    struct lane *lane = strmap_get(&r->shadows, lane_key(of));
    if (lane == NULL) {
        lane = lane_new(lane_key(of), of->queue.len);
        lane->suspects = true;
        strmap_put(&r->shadows, lane_key(lane), lane);
    }
    return lane;
}

struct track *ready_shadow(struct ready *r, struct track *track)
{
    if (track->shadow != NULL)
        return track->shadow;
    struct track *shadow = track_beside(r, track, STR("\n?"), shadow_lane(r, track->lane));
    bars_copy(&r->limits, track, shadow);
    shadow->origin = track;
    track->shadow = shadow;
    return shadow;
}

/* Twins and shadows are there for what is in them. */
static void leave_if_empty(struct ready *r, struct track *track)
{
    struct track *of = track->main != NULL ? track->main : track->origin;
    if (of == NULL || track->heap.len > 0 || track->twin != NULL)
        return;
    if (track->main != NULL)
        of->twin = NULL;
    else
        of->shadow = NULL;
    track_free(r, track);
    leave_if_empty(r, of);
}

uint64_t ready_rank(const struct ready *r, int32_t priority, int64_t ready_ms)
{
    return (uint64_t)(ready_ms + (SPEC_PRIORITY_MAX - priority) * r->point_ms);
}

void ready_put(struct ready *r, struct track *track, struct heap_node *node, int32_t priority,
               int64_t ready_ms, uint64_t id)
{
    assert(priority >= 0 && priority <= SPEC_PRIORITY_MAX);
    heap_push(&track->heap, node, ready_rank(r, priority, ready_ms), id);
    r->len++;
    if (track->learnt != NULL)
        learnt_arrival(track->learnt, priority);
    if (track->heap.len == 1) {
        bars_wait(track, true);
        list_push_back(&r->waiting, &track->waiting);
    }
    if (heap_min(&track->heap)->node == node)
        reorder_track(r, track);
    if (heap_holds(&track->order))
        freshen(r, track->lane);
}

void ready_remove(struct ready *r, struct track *track, struct heap_node *node)
{
    bool was_best = heap_min(&track->heap)->node == node;
    heap_remove(&track->heap, node);
    assert(r->len > 0);
    r->len--;
    if (track->heap.len == 0) {
        bars_wait(track, false);
        list_remove(&track->waiting);
    }
    if (was_best)
        reorder_track(r, track);
    leave_if_empty(r, track);
}

/* ---- looking */

static bool is_served(const void *worker_class, struct heap_node *node)
{
    const struct lane *lane = CONTAINER_OF(node, struct lane, order);
    return worker_class_serves(worker_class, lane->queue, lane->handler);
}

static bool is_served_unsuspected(const void *worker_class, struct heap_node *node)
{
    return !CONTAINER_OF(node, struct lane, order)->suspects && is_served(worker_class, node);
}

static const struct heap_item *best_of(const struct strmap *lanes, struct str queue,
                                       struct str handler)
{
    char key[LANE_KEY_MAX];
    if (queue.len > SPEC_NAME_MAX || handler.len > SPEC_NAME_MAX)
        return NULL; /* a worker may say so; no job has such a name */
    const struct lane *lane = strmap_get(lanes, make_lane_key(key, queue, handler));
    return lane == NULL ? NULL : lane_best(lane);
}

/* Looks into each of the lanes that the worker_class names; finds a track. */
static const struct heap_item *best_by_name(const struct strmap *lanes,
                                            const struct worker_class *worker_class)
{
    const struct heap_item *best = NULL;
    struct str queues = worker_class->queues;
    while (queues.len > 0) {
        struct str queue = str_cut(&queues, '\n');
        struct str handlers = worker_class->handlers;
        if (worker_class->runs_commands)
            best = better(best, best_of(lanes, queue, STR("")));
        while (handlers.len > 0)
            best = better(best, best_of(lanes, queue, str_cut(&handlers, '\n')));
    }
    return best;
}

static struct heap_node *best_of_track(struct heap_node *order)
{
    return heap_min(&CONTAINER_OF(order, struct track, order)->heap)->node;
}

struct heap_node *ready_best(const struct ready *r, const struct worker_class *worker_class,
                             bool suspects)
{
    /* A lane is found by name in the time of some four steps through the order of lanes. */
    if (worker_class->lane_count < r->order.len / 4) {
        const struct heap_item *best = best_by_name(&r->lanes, worker_class);
        if (suspects && r->shadows.len > 0)
            best = better(best, best_by_name(&r->shadows, worker_class));
        return best == NULL ? NULL : best_of_track(best->node);
    }
    const struct heap_item *found =
        heap_find(&r->order, suspects ? is_served : is_served_unsuspected, worker_class);
    if (found == NULL)
        return NULL;
    const struct lane *lane = CONTAINER_OF(found->node, struct lane, order);
    return best_of_track(lane_best(lane)->node);
}

enum { LOOK_MAX = 64 }; /* lanes, and tracks of a lane */

static size_t count_tracks(const struct heap *tracks, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < tracks->len && i < LOOK_MAX && count < max; i++)
        count += CONTAINER_OF(tracks->items[i].node, struct track, order)->heap.len;
    return count;
}

static size_t count_lane(const struct lane *lane, size_t max)
{
    size_t count = count_tracks(&lane->twins, max);
    if (lane->gate == GATE_OPEN && count < max)
        count += count_tracks(&lane->heap, max - count);
    return count;
}

size_t ready_count(const struct ready *r, const struct worker_class *worker_class, bool suspects,
                   size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < r->order.len && i < LOOK_MAX && count < max; i++) {
        const struct lane *lane = CONTAINER_OF(r->order.items[i].node, struct lane, order);
        if ((suspects || !lane->suspects) &&
            worker_class_serves(worker_class, lane->queue, lane->handler))
            count += lane->suspects ? 1 : count_lane(lane, max - count);
    }
    return count < max ? count : max;
}

struct lane *ready_fresh(const struct ready *r)
{
    return list_empty(&r->fresh) ? NULL : CONTAINER_OF(r->fresh.head.next, struct lane, fresh);
}
