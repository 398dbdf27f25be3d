/* hist.h - how often which duration was seen.
 *
 * Counts fall into buckets that grow with the value, 32 to every power of two, so any duration from
 * a microsecond to a century is told within 3 %, in 15 KB and without keeping samples. What is
 * read back is the upper end of a bucket: a histogram never makes a latency look better than it
 * was. Plain values; a zeroed struct is empty. */
#pragma once

#include <stdint.h>

enum {
    HIST_STEPS = 32, /* buckets per power of two: 1/32 is the error */
    HIST_BUCKETS = 60 * HIST_STEPS,
};

struct hist {
    uint64_t counts[HIST_BUCKETS];
    uint64_t total;
    uint64_t max; /* exact */
};

void hist_add(struct hist *h, uint64_t value);

/* The value that permille of 1000 samples do not exceed: 500 is the median. 0 when empty. */
uint64_t hist_quantile(const struct hist *h, uint32_t permille);
