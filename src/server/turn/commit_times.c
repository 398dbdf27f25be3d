#include "server/turn/commit_times.h"

/* From 1: 0 is a step in no use. */
static int64_t number_at(int64_t now_us)
{
    return now_us / COMMIT_STEP_US + 1;
}

static struct commit_step *step_of(struct commit_times *t, int64_t number)
{
    return &t->steps[number % COMMIT_STEPS];
}

/* Readers leave it out meanwhile. */
static void begin_step(struct commit_step *step, int64_t number)
{
    atomic_store(&step->number, 0);
    for (size_t i = 0; i < SKETCH_BUCKETS; i++)
        atomic_store_explicit(&step->counts[i], 0, memory_order_relaxed);
    atomic_store(&step->number, number);
}

void commit_times_add(struct commit_times *t, int64_t now_us, int64_t took_us)
{
    int64_t number = number_at(now_us);
    struct commit_step *step = step_of(t, number);
    atomic_uint *count = &step->counts[sketch_bucket(took_us > 0 ? (uint64_t)took_us : 0)];
    if (atomic_load_explicit(&step->number, memory_order_relaxed) != number)
        begin_step(step, number);
    /* One thread writes, so this need not be one operation. */
    unsigned before = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, before + 1, memory_order_relaxed);
}

static void add_step(struct commit_step *step, int64_t number, struct sketch *sum)
{
    struct sketch one = {0};
    if (atomic_load(&step->number) != number)
        return;
    for (size_t i = 0; i < SKETCH_BUCKETS; i++)
        sketch_put(&one, i, atomic_load(&step->counts[i]));
    if (atomic_load(&step->number) == number)
        sketch_merge(sum, &one);
}

void commit_times_look(struct commit_times *t, int64_t now_us, struct sketch *ret_sketch)
{
    int64_t newest = number_at(now_us);
    *ret_sketch = (struct sketch){0};
    for (int64_t number = newest; number > newest - COMMIT_STEPS && number > 0; number--)
        add_step(step_of(t, number), number, ret_sketch);
}
