#include "bench/harness/hist.h"

#include <assert.h>

/* Below HIST_STEPS every value has its own bucket. From there on, what follows the highest bit is
 * cut to five bits: they say which of the 32 buckets of that power of two it is. */
static uint32_t bucket_of(uint64_t value)
{
    if (value < HIST_STEPS)
        return (uint32_t)value;
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - 5;
    return (shift + 1) * HIST_STEPS + (uint32_t)(value >> shift) - HIST_STEPS;
}

/* The largest value that falls into it. */
static uint64_t bucket_end(uint32_t bucket)
{
    if (bucket < HIST_STEPS)
        return bucket;
    uint32_t shift = bucket / HIST_STEPS - 1;
    uint64_t first = (uint64_t)(HIST_STEPS + bucket % HIST_STEPS) << shift;
    return first + ((UINT64_C(1) << shift) - 1);
}

void hist_add(struct hist *h, uint64_t value)
{
    h->counts[bucket_of(value)]++;
    h->total++;
    if (value > h->max)
        h->max = value;
}

uint64_t hist_quantile(const struct hist *h, uint32_t permille)
{
    assert(permille <= 1000);
    /* Rounded up: the p99 of ten samples is the tenth, not the ninth. */
    uint64_t rank = h->total / 1000 * permille + (h->total % 1000 * permille + 999) / 1000;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HIST_BUCKETS && h->total > 0; i++) {
        seen += h->counts[i];
        if (seen >= rank && seen > 0)
            return bucket_end(i) < h->max ? bucket_end(i) : h->max;
    }
    return 0;
}
