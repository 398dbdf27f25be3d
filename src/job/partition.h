/* partition.h - the unit of ownership: exactly one server decides about a partition at a time.
 *
 * A store has a fixed number of partitions, each a range of the buckets that ids carry, so whoever
 * sees an id knows its partition. SQLite has one, which holds all buckets. */
#pragma once
#include "base/id.h"

enum { PARTITIONS_MAX = 64 };

struct partition_set {
    uint32_t count; /* partitions of the store; 1 … PARTITIONS_MAX */
    uint64_t bits;  /* bit p: partition p is in the set */
};

/* All partitions of a store. */
struct partition_set partition_all(uint32_t count);
/* Which of count partitions a bucket is in. */
uint32_t partition_of_bucket(uint32_t count, uint32_t bucket);
uint32_t partition_of(uint32_t count, uint64_t id);
/* The first bucket of a partition; of `count`: ID_BUCKETS. */
uint32_t partition_first_bucket(uint32_t count, uint32_t partition);

bool partition_has(const struct partition_set *set, uint64_t id);
bool partition_has_bucket(const struct partition_set *set, uint32_t bucket);
uint32_t partition_set_len(const struct partition_set *set);
/* The bucket behind `bucket` that is in the set, around the circle of all buckets; so new ids go
 * round what is owned. The set must not be empty. */
uint32_t partition_next_bucket(const struct partition_set *set, uint32_t bucket);
