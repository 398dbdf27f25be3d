#include "engine/ready.h"
#include "base/buf.h"
#include "base/mem.h"
#include "job/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_BITS = 48 }; /* milliseconds until the year 10889 */

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
    struct buf key = {.ptr = bytes, .cap = 2 * SPEC_NAME_MAX + 1, .max = 2 * SPEC_NAME_MAX + 1};
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
    char key_bytes[2 * SPEC_NAME_MAX + 1];
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

struct heap_node *ready_best(const struct ready *r, const struct trade *trade)
{
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
