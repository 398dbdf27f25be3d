/* heap.h - an indexed 4-ary min-heap.
 *
 * Things carry a `struct heap_node` that knows its place, so any of them can be removed or moved
 * in O(log n) without a search. The order is (key, tie), kept inside the heap's own array: sifting
 * compares without following pointers, and four children share a cache line or two. With distinct
 * ties the order is total, so what comes out does not depend on the history of what went in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
    uint32_t place; /* 1-based; 0: in no heap */
};

struct heap_item {
    uint64_t key;
    uint64_t tie;
    struct heap_node *node;
};

struct heap {
    struct heap_item *items; /* owned */
    uint32_t len;
    uint32_t cap;
};

void heap_free(struct heap *h); /* the nodes stay as they are */

void heap_push(struct heap *h, struct heap_node *node, uint64_t key, uint64_t tie);
/* Does nothing for a node that is in no heap. */
void heap_remove(struct heap *h, struct heap_node *node);
/* Pushes, or moves to the new key what is in this heap already. */
void heap_set(struct heap *h, struct heap_node *node, uint64_t key, uint64_t tie);

/* The smallest, or NULL when empty. */
static inline const struct heap_item *heap_min(const struct heap *h)
{
    return h->len == 0 ? NULL : &h->items[0];
}

/* The smallest that accept() likes, or NULL. Looks at nothing that stands behind one it likes, so
 * when the very first will do, this costs no more than heap_min. */
typedef bool heap_accept(const void *arg, struct heap_node *node);
const struct heap_item *heap_find(const struct heap *h, heap_accept *accept, const void *arg);

/* How many come before this item, which need not be in the heap; stops counting at max, and looks
 * at no more than some four times as many. */
size_t heap_count_before(const struct heap *h, const struct heap_item *item, size_t max);

static inline bool heap_holds(const struct heap_node *node)
{
    return node->place != 0;
}
