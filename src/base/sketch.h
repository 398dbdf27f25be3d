/* sketch.h - quantiles of many durations, in a kilobyte, without keeping them.
 *
 * Counts fall into buckets that grow with the value, eight to every power of two: what is read back
 * is off by at most one part in sixteen (6.25 %), and exact below eight. Two sketches that are
 * added up are the sketch of all values together, in any order: so jobs make a queue, and days a
 * month. Plain values; a zeroed struct is empty. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    SKETCH_STEPS = 8,    /* buckets for every power of two */
    SKETCH_BUCKETS = 320 /* up to 2^42: as milliseconds, a century; what is longer counts as that */
};

struct sketch {
    uint32_t counts[SKETCH_BUCKETS];
    uint64_t total;
};

/* The bucket of a value, and so many values of one bucket. */
size_t sketch_bucket(uint64_t value);
void sketch_put(struct sketch *s, size_t bucket, uint64_t count);
void sketch_add(struct sketch *s, uint64_t value);
void sketch_merge(struct sketch *into, const struct sketch *from);

/* The value that permille of 1000 do not exceed: 950 is the p95. 0 when empty. */
uint64_t sketch_quantile(const struct sketch *s, uint32_t permille);
