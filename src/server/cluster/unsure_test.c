#include "server/cluster/unsure.h"

#include "base/test/test.h"

enum { NOW_MS = 100000, BEAT_MS = 93000, WAIT_MS = 80000 };

static struct cluster_map cluster_map;

/* What was taken: the first from an owner that fell silent, the second was given back with a rest,
 * the third had nothing in doubt. */
static struct ownership taken(void)
{
    struct node_rec node = {.name = STR("b"), .start = STR("b/1"), .seen_ms = 7};
    struct partition_rec partitions[3] = {{.owner = STR("b/1")}};
    struct cluster_view view = {
        .nodes = &node, .node_count = 1, .partitions = partitions, .partition_count = 3};
    struct ownership own = {
        .partitions = 3, .epochs = {1, 1, 1}, .unsure_ms = {WAIT_MS, 500, 0}, .deprived = 1};
    cluster_map_init(&cluster_map, STR("me/1"), 5000);
    cluster_map_observe(&cluster_map, &view, BEAT_MS);
    unsure_date(&own, 7, &view, &cluster_map, NOW_MS);
    cluster_map_free(&cluster_map);
    return own;
}

TEST(a_silent_owner_counts_from_its_last_beat_and_a_rest_from_now)
{
    struct ownership own = taken();
    assert_int_equal(own.unsure_until_ms[0], BEAT_MS + WAIT_MS);
    assert_int_equal(own.alive_ms[0], BEAT_MS);
    assert_int_equal(own.unsure_until_ms[1], NOW_MS + 500);
    assert_int_equal(own.alive_ms[1], 0);
    assert_int_equal(own.unsure_until_ms[2], 0);
}

TEST(what_is_left_is_given)
{
    struct ownership own = taken();
    unsure_leave(&own, 3, NOW_MS + 1000);
    assert_int_equal(own.unsure_ms[0], BEAT_MS + WAIT_MS - NOW_MS - 1000);
    assert_int_equal(own.unsure_ms[1], 0);
}

TEST(it_is_over_when_no_such_lease_is_left)
{
    struct ownership own = taken();
    assert_int_equal(unsure_over(&own, 1), 2);
    assert_int_equal(unsure_over(&own, 0), 3);
    own.epochs[0] = 0;
    assert_int_equal(unsure_over(&own, 0), 2);
}
