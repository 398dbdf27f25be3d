#include "server/cluster/balance.h"

#include "base/test/test.h"

#include <stdio.h>

enum { LEASE_MS = 5000, NOW_MS = 100000, BOOT_MS = 7000, PARTITIONS = 4 };

/* We are "a", and our view is the first one: by our own boot clock nobody is silent yet. */
static struct node_rec nodes[2];
static struct partition_rec partitions[PARTITIONS];
static struct cluster_view view;
static struct cluster_map cluster_map;

static int begin(void **state)
{
    (void)state;
    nodes[0] = (struct node_rec){.name = STR("a"), .start = STR("a/1"), .seen_ms = NOW_MS};
    nodes[1] = (struct node_rec){.name = STR("b"), .start = STR("b/1"), .seen_ms = NOW_MS};
    for (size_t p = 0; p < PARTITIONS; p++)
        partitions[p] = (struct partition_rec){0};
    view = (struct cluster_view){.now_ms = NOW_MS,
                                 .nodes = nodes,
                                 .node_count = 2,
                                 .partitions = partitions,
                                 .partition_count = PARTITIONS};
    cluster_map_init(&cluster_map, STR("a/1"), LEASE_MS);
    cluster_map_observe(&cluster_map, &view, BOOT_MS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cluster_map_free(&cluster_map);
    return 0;
}

TEST(who_is_there_is_left_its_share_of_what_is_free, begin, end)
{
    nodes[1].seen_ms = NOW_MS - LEASE_MS;
    assert_int_equal(__builtin_popcountll(balance_plan(&cluster_map, &view, false).take), 2);
}

TEST(who_seems_to_be_away_is_left_nothing_that_is_free, begin, end)
{
    nodes[1].seen_ms = NOW_MS - LEASE_MS - 1;
    assert_int_equal(balance_plan(&cluster_map, &view, false).take, 0xf);
}

TEST(who_seems_to_be_away_is_not_deprived, begin, end)
{
    nodes[1].seen_ms = NOW_MS - 10 * LEASE_MS;
    partitions[0].owner = partitions[1].owner = partitions[2].owner = STR("b/1");
    assert_int_equal(balance_plan(&cluster_map, &view, false).take, 0x8);
}

TEST(nothing_is_given_to_one_that_seems_to_be_away, begin, end)
{
    nodes[1].seen_ms = NOW_MS - LEASE_MS - 1;
    for (size_t p = 0; p < PARTITIONS; p++)
        partitions[p].owner = STR("a/1");
    assert_int_equal(balance_plan(&cluster_map, &view, false).give, 0);
    nodes[1].seen_ms = NOW_MS;
    assert_int_equal(__builtin_popcountll(balance_plan(&cluster_map, &view, false).give), 2);
}

/* Beyond the last seat is not the same as silent. */
TEST(who_has_no_seat_is_not_deprived, begin, end)
{
    static struct node_rec many[SHARES_NODES_MAX + 2];
    static char starts[SHARES_NODES_MAX + 2][8];
    for (size_t n = 0; n < SHARES_NODES_MAX + 2; n++) {
        snprintf(starts[n], sizeof starts[n], "x%zu", n);
        many[n] = (struct node_rec){
            .name = str_c(starts[n]), .start = str_c(starts[n]), .seen_ms = NOW_MS};
    }
    many[0] = nodes[0];
    view.nodes = many;
    view.node_count = SHARES_NODES_MAX + 2;
    for (size_t p = 0; p < PARTITIONS; p++)
        partitions[p].owner = many[SHARES_NODES_MAX + 1].start;
    assert_int_equal(balance_plan(&cluster_map, &view, false).take, 0);
}

TEST(we_are_never_away_ourselves, begin, end)
{
    nodes[0].seen_ms = NOW_MS - LEASE_MS - 1; /* the store's clock was set in between */
    assert_int_equal(__builtin_popcountll(balance_plan(&cluster_map, &view, false).take), 2);
}
