#include "job/partition.h"

#include <assert.h>

struct partition_set partition_all(uint32_t count)
{
    assert(count >= 1 && count <= PARTITIONS_MAX);
    return (struct partition_set){
        .count = count,
        .bits = count == PARTITIONS_MAX ? UINT64_MAX : (UINT64_C(1) << count) - 1,
    };
}

uint32_t partition_of_bucket(uint32_t count, uint32_t bucket)
{
    return bucket * count / ID_BUCKETS;
}

uint32_t partition_of(uint32_t count, uint64_t id)
{
    return partition_of_bucket(count, id_bucket(id));
}

uint32_t partition_first_bucket(uint32_t count, uint32_t partition)
{
    return (partition * ID_BUCKETS + count - 1) / count;
}

bool partition_has_bucket(const struct partition_set *set, uint32_t bucket)
{
    return set->bits >> partition_of_bucket(set->count, bucket) & 1;
}

bool partition_has(const struct partition_set *set, uint64_t id)
{
    return partition_has_bucket(set, id_bucket(id));
}

uint32_t partition_set_len(const struct partition_set *set)
{
    return (uint32_t)__builtin_popcountll(set->bits);
}

uint32_t partition_next_bucket(const struct partition_set *set, uint32_t bucket)
{
    assert(set->bits != 0);
    bucket = (bucket + 1) % ID_BUCKETS;
    while (!partition_has_bucket(set, bucket)) {
        uint32_t next = partition_of_bucket(set->count, bucket) + 1;
        bucket = next == set->count ? 0 : partition_first_bucket(set->count, next);
    }
    return bucket;
}
