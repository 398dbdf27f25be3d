#include "server/cluster/cluster_map.h"

#include "base/test/test.h"

enum { LEASE_MS = 5000 };

static struct cluster_map cluster_map;

static int begin(void **state)
{
    (void)state;
    cluster_map_init(&cluster_map, STR("me/1"), LEASE_MS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cluster_map_free(&cluster_map);
    return 0;
}

/* A view of one other server, which owns the only partition. */
static void view(struct str start, int64_t seen_ms, struct str owner, int64_t boot_ms)
{
    struct node_rec node = {.name = STR("b"), .start = start, .seen_ms = seen_ms};
    struct partition_rec partition = {.owner = owner};
    cluster_map_observe(
        &cluster_map,
        &(struct cluster_view){
            .nodes = &node, .node_count = 1, .partitions = &partition, .partition_count = 1},
        boot_ms);
}

TEST(a_beat_counts_from_when_it_was_first_seen, begin, end)
{
    view(STR("b/1"), 700, STR("b/1"), 10000);
    view(STR("b/1"), 700, STR("b/1"), 11000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 10000);
    view(STR("b/1"), 300, STR("b/1"),
         12000); /* the store's clock was set back: a beat all the same */
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 12000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("c/1")), 0);
}

TEST(a_gap_begins_the_watch_again_and_moves_no_beat, begin, end)
{
    assert_int_equal(cluster_map_watching_ms(&cluster_map), 0);
    view(STR("b/1"), 700, STR("b/1"), 10000);
    view(STR("b/1"), 700, STR("b/1"), 12000);
    assert_int_equal(cluster_map_watching_ms(&cluster_map), 10000);
    view(STR("b/1"), 700, STR("b/1"), 20000);
    assert_int_equal(cluster_map_watching_ms(&cluster_map), 20000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 10000);
}

TEST(a_start_that_lost_its_row_is_known_while_it_owns_something, begin, end)
{
    view(STR("b/1"), 700, STR("b/1"), 10000);
    view(STR("b/2"), 900, STR("b/1"), 11000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 10000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/2")), 11000);
    view(STR("b/2"), 900, STR("b/2"), 12000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 0);
}
