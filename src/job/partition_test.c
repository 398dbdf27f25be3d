#include "job/partition.h"

#include "base/test/test.h"

TEST(every_bucket_is_in_one_partition_and_they_are_about_equal)
{
    for (uint32_t count = 1; count <= PARTITIONS_MAX; count++) {
        assert_int_equal(partition_first_bucket(count, 0), 0);
        assert_int_equal(partition_first_bucket(count, count), ID_BUCKETS);
        for (uint32_t p = 0; p < count; p++) {
            uint32_t first = partition_first_bucket(count, p);
            uint32_t end = partition_first_bucket(count, p + 1);
            assert_in_range(end - first, ID_BUCKETS / count, ID_BUCKETS / count + 1);
            assert_int_equal(partition_of_bucket(count, first), p);
            assert_int_equal(partition_of_bucket(count, end - 1), p);
        }
    }
}

TEST(going_round_visits_the_buckets_of_the_set_and_no_others)
{
    const struct partition_set set = {.count = 16, .bits = 1U << 3 | 1U << 9 | 1U << 15};
    uint32_t bucket = 0;
    uint32_t visited[3] = {0};
    assert_int_equal(partition_set_len(&set), 3);
    for (int i = 0; i < 3 * ID_BUCKETS / 16; i++) {
        bucket = partition_next_bucket(&set, bucket);
        uint32_t partition = partition_of_bucket(16, bucket);
        assert_true(set.bits >> partition & 1);
        visited[partition / 6]++;
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(visited[i], ID_BUCKETS / 16);
}

TEST(a_set_of_all_has_every_id)
{
    for (uint32_t count = 1; count <= PARTITIONS_MAX; count++) {
        const struct partition_set all = partition_all(count);
        struct id_gen gen = {0};
        assert_int_equal(partition_set_len(&all), count);
        for (uint32_t bucket = 0; bucket < ID_BUCKETS; bucket++)
            assert_true(partition_has(&all, id_next(&gen, ID_EPOCH_MS, bucket)));
    }
}
