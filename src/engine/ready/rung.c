#include "engine/ready/rung.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The first that is not smaller. */
static size_t find(const struct rungs *all, uint32_t max)
{
    size_t low = 0;
    size_t high = all->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->items[middle]->max < max)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct rung *rung_at(const struct rungs *all, uint32_t max)
{
    size_t at = find(all, max);
    return at < all->len && all->items[at]->max == max ? all->items[at] : NULL;
}

static struct rung *rung_new(struct rungs *all, uint32_t max)
{
    size_t at = find(all, max);
    struct rung *rung = MEM_NEW(struct rung);
    rung->max = max;
    list_init(&rung->waiting);
    all->items = mem_resize(all->items, (all->len + 1) * sizeof *all->items);
    memmove(&all->items[at + 1], &all->items[at], (all->len - at) * sizeof *all->items);
    all->items[at] = rung;
    all->len++;
    return rung;
}

struct rung *rung_join(struct rungs *all, uint32_t max)
{
    struct rung *rung = rung_at(all, max);
    if (rung == NULL)
        rung = rung_new(all, max);
    rung->members++;
    return rung;
}

void rung_leave(struct rungs *all, struct rung *rung)
{
    assert(rung->members > 0);
    if (--rung->members > 0)
        return;
    assert(list_empty(&rung->waiting));
    size_t at = find(all, rung->max);
    all->len--;
    memmove(&all->items[at], &all->items[at + 1], (all->len - at) * sizeof *all->items);
    free(rung);
    if (all->len == 0)
        rungs_free(all);
}

void rungs_free(struct rungs *all)
{
    for (size_t i = 0; i < all->len; i++)
        free(all->items[i]);
    free(all->items);
    *all = (struct rungs){0};
}
