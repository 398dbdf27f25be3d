#include "server/metrics/exemplars.h"
#include "base/arena.h"
#include "base/mem.h"

#include <stdlib.h>

enum { WORDS = 4 };

struct slot {
    atomic_uint_least64_t number; /* odd: it is being written */
    atomic_uint_least64_t words[WORDS];
};

struct exemplars {
    struct slot slots[EXEMPLAR_HISTOGRAMS * METRIC_BUCKETS];
};

static void write_slot(struct slot *slot, const struct exemplar *e)
{
    const uint64_t words[WORDS] = {e->trace.high, e->trace.low, (uint64_t)e->value,
                                   (uint64_t)e->at_ms};
    uint64_t number = atomic_load_explicit(&slot->number, memory_order_relaxed);
    atomic_store_explicit(&slot->number, number + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&slot->number, number + 2, memory_order_release);
}

/* All zero when it was being written. */
static struct exemplar read_slot(struct slot *slot)
{
    uint64_t words[WORDS];
    uint64_t number = atomic_load_explicit(&slot->number, memory_order_acquire);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (number % 2 == 1 || atomic_load_explicit(&slot->number, memory_order_relaxed) != number)
        return (struct exemplar){.at_ms = 0};
    return (struct exemplar){{words[0], words[1]}, (int64_t)words[2], (int64_t)words[3]};
}

void exemplar_note(exemplars_place *place, enum exemplar_of which, size_t bucket,
                   const struct exemplar *exemplar)
{
    struct exemplars *all = atomic_load_explicit(place, memory_order_relaxed);
    if (all == NULL) {
        all = MEM_NEW(struct exemplars);
        atomic_store_explicit(place, all, memory_order_release);
    }
    write_slot(&all->slots[which * METRIC_BUCKETS + bucket], exemplar);
}

const struct exemplar *exemplars_copy(exemplars_place *place, struct arena *arena)
{
    struct exemplars *all = atomic_load_explicit(place, memory_order_acquire);
    if (all == NULL)
        return NULL;
    struct exemplar *copy = ARENA_ARRAY(arena, struct exemplar, COUNT_OF(all->slots));
    for (size_t i = 0; i < COUNT_OF(all->slots); i++)
        copy[i] = read_slot(&all->slots[i]);
    return copy;
}

void exemplars_free(exemplars_place *place)
{
    free(atomic_load_explicit(place, memory_order_relaxed));
}

enum exemplar_of exemplar_of_metric(const struct metric *m)
{
    if (m->axis != AXIS_QUEUE)
        return EXEMPLAR_HISTOGRAMS;
    return m->cell == CELL_DURATION ? EXEMPLAR_DURATION
           : m->cell == CELL_LAG    ? EXEMPLAR_LAG
           : m->cell == CELL_WAIT   ? EXEMPLAR_WAIT
                                    : EXEMPLAR_HISTOGRAMS;
}
