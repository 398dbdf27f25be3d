#include "base/sketch.h"

/* Values below SKETCH_STEPS have a bucket each. Above, the highest set bit says which power of two
 * it is, and the three bits behind that which eighth of it. */
size_t sketch_bucket(uint64_t value)
{
    if (value < SKETCH_STEPS)
        return (size_t)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - 3;
    size_t bucket = (size_t)shift * SKETCH_STEPS + (size_t)(value >> shift);
    return bucket < SKETCH_BUCKETS ? bucket : SKETCH_BUCKETS - 1;
}

/* The middle of a bucket. */
static uint64_t value_of(size_t bucket)
{
    if (bucket < 2 * SKETCH_STEPS)
        return bucket;
    unsigned shift = (unsigned)(bucket / SKETCH_STEPS - 1);
    uint64_t first = (uint64_t)(bucket % SKETCH_STEPS + SKETCH_STEPS) << shift;
    return first + (UINT64_C(1) << shift) / 2;
}

void sketch_put(struct sketch *s, size_t bucket, uint64_t count)
{
    s->counts[bucket < SKETCH_BUCKETS ? bucket : SKETCH_BUCKETS - 1] += (uint32_t)count;
    s->total += count;
}

void sketch_add(struct sketch *s, uint64_t value)
{
    sketch_put(s, sketch_bucket(value), 1);
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
    for (size_t i = 0; i < SKETCH_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    into->total += from->total;
}

uint64_t sketch_quantile(const struct sketch *s, uint32_t permille)
{
    uint64_t rank = (s->total * permille + 999) / 1000; /* the smallest that enough do not exceed */
    uint64_t seen = 0;
    if (s->total == 0)
        return 0;
    for (size_t i = 0; i < SKETCH_BUCKETS; i++) {
        seen += s->counts[i];
        if (seen >= rank && seen > 0)
            return value_of(i);
    }
    return value_of(SKETCH_BUCKETS - 1);
}
