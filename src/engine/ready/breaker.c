#include "engine/ready/breaker.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void breakers_free(struct breakers *all)
{
    for (size_t i = 0; i < all->by_target.cap; i++)
        free(all->by_target.slots[i].value);
    strmap_free(&all->by_target);
    heap_free(&all->wakes);
}

static struct breaker *breaker_new(struct breakers *all, struct str target)
{
    struct breaker *b = mem_new(sizeof *b + target.len);
    memcpy(b + 1, target.ptr, target.len);
    b->target = str_of((char *)(b + 1), target.len);
    b->serial = ++all->serials;
    list_init(&b->tracks);
    strmap_put(&all->by_target, b->target, b);
    return b;
}

/* One that is not closed wakes when its rest is over; one that nobody names any more, but that
 * remembers something, when that is no longer of interest. */
static void place(struct breakers *all, struct breaker *b)
{
    const struct breaker_window *w = &b->v.window;
    bool rests = b->v.state != BREAKER_CLOSED;
    bool remembers = b->members == 0 && w->calls + w->calls_before > 0;
    int64_t wake_ms = rests ? b->v.wake_ms : w->since_ms + all->rule.window_ms;
    if ((rests || remembers) && !b->v.gone)
        heap_set(&all->wakes, &b->wake, (uint64_t)wake_ms, b->serial);
    else
        heap_remove(&all->wakes, &b->wake);
}

struct breaker *breaker_join(struct breakers *all, struct str target)
{
    assert(target.len > 0);
    struct breaker *b = strmap_get(&all->by_target, target);
    if (b == NULL)
        b = breaker_new(all, target);
    b->members++;
    b->v.gone = false; /* it was to be forgotten in this very turn */
    place(all, b);
    return b;
}

static bool is_idle(const struct breaker *b)
{
    return b->members == 0 && !heap_holds(&b->wake);
}

static void release(struct breakers *all, struct breaker *b)
{
    assert(list_empty(&b->tracks));
    strmap_remove(&all->by_target, b->target);
    free(b);
}

/* One that the turn has changed stays until the turn is over: undo may bring back what it
 * remembered. */
void breaker_forget_if_idle(struct breakers *all, struct breaker *b)
{
    if (is_idle(b) && b->touched == NULL)
        release(all, b);
}

void breaker_leave(struct breakers *all, struct breaker *b)
{
    assert(b->members > 0);
    b->members--;
    place(all, b);
    breaker_forget_if_idle(all, b);
}

void breaker_set(struct breakers *all, struct breaker *b, const struct breaker_values *to)
{
    b->v = *to;
    place(all, b);
}

bool breaker_lets_start(const struct breaker *b)
{
    return b->v.state == BREAKER_CLOSED || (b->v.state == BREAKER_HALF_OPEN && b->v.probe == 0);
}
