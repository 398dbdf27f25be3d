#include "base/heap.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum { ARITY = 4 };

void heap_free(struct heap *h)
{
    free(h->items);
    *h = (struct heap){0};
}

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static void put(struct heap *h, uint32_t at, struct heap_item item)
{
    h->items[at] = item;
    item.node->place = at + 1;
}

static void sift_up(struct heap *h, uint32_t at, struct heap_item item)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / ARITY;
        if (!before(&item, &h->items[parent]))
            break;
        put(h, at, h->items[parent]);
        at = parent;
    }
    put(h, at, item);
}

static uint32_t smallest_child(const struct heap *h, uint32_t first)
{
    uint32_t end = first + ARITY < h->len ? first + ARITY : h->len;
    uint32_t best = first;
    for (uint32_t i = first + 1; i < end; i++) {
        if (before(&h->items[i], &h->items[best]))
            best = i;
    }
    return best;
}

static void sift_down(struct heap *h, uint32_t at, struct heap_item item)
{
    for (;;) {
        uint32_t first = at * ARITY + 1;
        if (first >= h->len)
            break;
        uint32_t child = smallest_child(h, first);
        if (!before(&h->items[child], &item))
            break;
        put(h, at, h->items[child]);
        at = child;
    }
    put(h, at, item);
}

static void settle(struct heap *h, uint32_t at, struct heap_item item)
{
    if (at > 0 && before(&item, &h->items[(at - 1) / ARITY]))
        sift_up(h, at, item);
    else
        sift_down(h, at, item);
}

void heap_push(struct heap *h, struct heap_node *node, uint64_t key, uint64_t tie)
{
    assert(!heap_holds(node));
    if (h->len == h->cap) {
        h->cap = h->cap == 0 ? 64 : h->cap * 2;
        h->items = mem_resize(h->items, h->cap * sizeof *h->items);
    }
    h->len++;
    sift_up(h, h->len - 1, (struct heap_item){key, tie, node});
}

void heap_remove(struct heap *h, struct heap_node *node)
{
    if (!heap_holds(node))
        return;
    uint32_t at = node->place - 1;
    assert(at < h->len && h->items[at].node == node);
    node->place = 0;
    struct heap_item last = h->items[--h->len];
    if (last.node != node)
        settle(h, at, last);
}

void heap_set(struct heap *h, struct heap_node *node, uint64_t key, uint64_t tie)
{
    if (!heap_holds(node)) {
        heap_push(h, node, key, tie);
        return;
    }
    uint32_t at = node->place - 1;
    assert(at < h->len && h->items[at].node == node);
    settle(h, at, (struct heap_item){key, tie, node});
}

/* What is below a node is larger: a subtree is left as soon as it cannot hold anything better. The
 * depth is that of the heap, 16 at most. */
static const struct heap_item *find(const struct heap *h, uint32_t at, const struct heap_item *best,
                                    heap_accept *accept, const void *arg)
{
    const struct heap_item *item = &h->items[at];
    if (best != NULL && !before(item, best))
        return best;
    if (accept(arg, item->node))
        return item;
    uint64_t first = (uint64_t)at * ARITY + 1;
    for (uint64_t i = first; i < first + ARITY && i < h->len; i++)
        best = find(h, (uint32_t)i, best, accept, arg);
    return best;
}

const struct heap_item *heap_find(const struct heap *h, heap_accept *accept, const void *arg)
{
    return h->len == 0 ? NULL : find(h, 0, NULL, accept, arg);
}

/* Of a node that comes before the item, and of what is below it. */
static size_t count_before(const struct heap *h, uint64_t at, const struct heap_item *item,
                           size_t count, size_t max)
{
    uint64_t child = at * ARITY + 1;
    count++;
    for (uint64_t end = child + ARITY; child < end && child < h->len && count < max; child++) {
        if (before(&h->items[child], item))
            count = count_before(h, child, item, count, max);
    }
    return count;
}

size_t heap_count_before(const struct heap *h, const struct heap_item *item, size_t max)
{
    return h->len == 0 || max == 0 || !before(&h->items[0], item)
               ? 0
               : count_before(h, 0, item, 0, max);
}
