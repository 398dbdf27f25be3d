#include "worker/link/epochs.h"

#include "base/test/test.h"

enum { KEEP_MS = 80000 };

/* What is believed of a server that names these epochs of partitions 0 and 1. */
static uint64_t hear(struct epochs *e, uint64_t first, uint64_t second, int64_t now_ms)
{
    const uint64_t epochs[PARTITIONS_MAX] = {first, second};
    const struct poll_reply reply = {.owned = {.count = 2}, .epochs = epochs};
    struct partition_set believed = epochs_hear(e, &reply, now_ms, KEEP_MS);
    assert_int_equal(believed.count, 2);
    return believed.bits;
}

TEST(a_smaller_epoch_is_not_believed)
{
    struct epochs e = {0};
    assert_int_equal(hear(&e, 5, 5, 0), 3);
    assert_int_equal(hear(&e, 6, 0, 10), 1); /* says nothing about the other one */
    assert_int_equal(hear(&e, 5, 5, 20), 2);
    assert_int_equal(hear(&e, 6, 5, 30), 3);
    assert_int_equal(hear(&e, 7, 4, 40), 1);
}

TEST(an_epoch_is_forgotten_when_it_was_not_heard_for_long)
{
    struct epochs e = {0};
    hear(&e, 9, 9, 0);
    assert_int_equal(hear(&e, 9, 1, 1000), 1); /* heard again */
    assert_int_equal(hear(&e, 1, 1, KEEP_MS), 0);
    assert_int_equal(hear(&e, 1, 1, KEEP_MS + 1), 2);
    assert_int_equal(hear(&e, 1, 1, KEEP_MS + 1001), 3);
}

TEST(who_names_no_epochs_is_believed)
{
    struct epochs e = {0};
    hear(&e, 9, 9, 0);
    const struct poll_reply older = {.owned = {.count = 2, .bits = 1}};
    assert_int_equal(epochs_hear(&e, &older, 1, KEEP_MS).count, 0);
    assert_int_equal(hear(&e, 8, 9, 2), 2); /* and changes nothing */
}

TEST(a_store_with_other_partitions_is_another)
{
    struct epochs e = {0};
    const uint64_t epochs[PARTITIONS_MAX] = {1, 1, 1, 1};
    const struct poll_reply reply = {.owned = {.count = 4}, .epochs = epochs};
    hear(&e, 9, 9, 0);
    assert_int_equal(epochs_hear(&e, &reply, 1, KEEP_MS).bits, 15);
}
