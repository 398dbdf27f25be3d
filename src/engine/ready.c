#include "engine/ready.h"
#include "base/buf.h"
#include "base/mem.h"
#include "job/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIME_BITS = 48, /* milliseconds until the year 10889 */
    KEY_MAX = 2 * SPEC_NAME_MAX + 1,
};

void ready_init(struct ready *r)
{
    *r = (struct ready){0};
    list_init(&r->fresh);
}

void ready_free(struct ready *r)
{
    for (size_t i = 0; i < r->lanes.cap; i++) {
        struct lane *lane = r->lanes.slots[i].value;
        if (lane != NULL) {
            heap_free(&lane->heap);
            free(lane);
        }
    }
    strmap_free(&r->lanes);
    heap_free(&r->order);
}

/* queue and handler in one text; also what lane_key makes of a lane. */
static struct str make_key(char *bytes, struct str queue, struct str handler)
{
    struct buf key = {.ptr = bytes, .cap = KEY_MAX, .max = KEY_MAX};
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
    return lane;
}

struct lane *ready_join(struct ready *r, struct str queue, struct str handler, size_t lanes_max)
{
    char key_bytes[KEY_MAX];
    struct str key = make_key(key_bytes, queue, handler);
    struct lane *lane = strmap_get(&r->lanes, key);
    if (lane == NULL) {
        if (r->lanes.len >= lanes_max)
            return NULL;
        lane = lane_new(key, queue.len);
        strmap_put(&r->lanes, lane_key(lane), lane);
    }
    lane->members++;
    return lane;
}

void ready_leave(struct ready *r, struct lane *lane)
{
    assert(lane->members > 0);
    if (--lane->members > 0)
        return;
    assert(lane->heap.len == 0);
    strmap_remove(&r->lanes, lane_key(lane));
    heap_free(&lane->heap);
    free(lane);
}

/* The best of the lane is another one now. */
static void reorder(struct ready *r, struct lane *lane)
{
    const struct heap_item *best = heap_min(&lane->heap);
    if (best == NULL)
        heap_remove(&r->order, &lane->order);
    else
        heap_set(&r->order, &lane->order, best->key, best->tie);
}

void ready_put(struct ready *r, struct lane *lane, struct heap_node *node, int32_t priority,
               int64_t ready_ms, uint64_t id)
{
    assert(priority >= 0 && priority <= SPEC_PRIORITY_MAX);
    uint64_t rank = (uint64_t)(SPEC_PRIORITY_MAX - priority) << TIME_BITS;
    heap_push(&lane->heap, node, rank | (uint64_t)ready_ms, id);
    r->len++;
    if (heap_min(&lane->heap)->node == node)
        reorder(r, lane);
    if (!list_linked(&lane->fresh))
        list_push_back(&r->fresh, &lane->fresh);
}

void ready_remove(struct ready *r, struct lane *lane, struct heap_node *node)
{
    bool was_best = heap_min(&lane->heap)->node == node;
    heap_remove(&lane->heap, node);
    r->len--;
    if (was_best)
        reorder(r, lane);
    if (lane->heap.len == 0)
        list_remove(&lane->fresh);
}

static bool is_served(const void *trade, struct heap_node *node)
{
    const struct lane *lane = CONTAINER_OF(node, struct lane, order);
    return trade_serves(trade, lane->queue, lane->handler);
}

/* Whichever comes first; NULL never does. */
static const struct heap_item *better(const struct heap_item *a, const struct heap_item *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    bool first = a->key != b->key ? a->key < b->key : a->tie < b->tie;
    return first ? a : b;
}

static const struct heap_item *best_of(const struct ready *r, struct str queue, struct str handler)
{
    char key[KEY_MAX];
    if (queue.len > SPEC_NAME_MAX || handler.len > SPEC_NAME_MAX)
        return NULL; /* a worker may say so; no job has such a name */
    const struct lane *lane = strmap_get(&r->lanes, make_key(key, queue, handler));
    return lane == NULL ? NULL : heap_min(&lane->heap);
}

/* Looks into each of the lanes that the trade names. */
static const struct heap_item *best_by_name(const struct ready *r, const struct trade *trade)
{
    const struct heap_item *best = NULL;
    struct str queues = trade->queues;
    while (queues.len > 0) {
        struct str queue = str_cut(&queues, '\n');
        struct str handlers = trade->handlers;
        if (trade->runs_commands)
            best = better(best, best_of(r, queue, STR("")));
        while (handlers.len > 0)
            best = better(best, best_of(r, queue, str_cut(&handlers, '\n')));
    }
    return best;
}

struct heap_node *ready_best(const struct ready *r, const struct trade *trade)
{
    /* A lane is found by name in the time of some four steps through the order of lanes. */
    if (trade->lane_count < r->order.len / 4) {
        const struct heap_item *best = best_by_name(r, trade);
        return best == NULL ? NULL : best->node;
    }
    const struct heap_item *found = heap_find(&r->order, is_served, trade);
    if (found == NULL)
        return NULL;
    const struct lane *lane = CONTAINER_OF(found->node, struct lane, order);
    return heap_min(&lane->heap)->node;
}

struct lane *ready_next_fresh(struct ready *r)
{
    struct list_node *node = list_pop_front(&r->fresh);
    return node == NULL ? NULL : CONTAINER_OF(node, struct lane, fresh);
}
