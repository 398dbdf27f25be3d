#include "server/cluster/cluster_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void a_beat_counts_from_when_it_was_first_seen(void **state)
{
    (void)state;
    view(STR("b/1"), 700, STR("b/1"), 10000);
    view(STR("b/1"), 700, STR("b/1"), 11000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 10000);
    view(STR("b/1"), 300, STR("b/1"),
         12000); /* the store's clock was set back: a beat all the same */
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 12000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("c/1")), 0);
}

static void a_gap_begins_the_watch_again_and_moves_no_beat(void **state)
{
    (void)state;
    assert_int_equal(cluster_map_watching_ms(&cluster_map), 0);
    view(STR("b/1"), 700, STR("b/1"), 10000);
    view(STR("b/1"), 700, STR("b/1"), 12000);
    assert_int_equal(cluster_map_watching_ms(&cluster_map), 10000);
    view(STR("b/1"), 700, STR("b/1"), 20000);
    assert_int_equal(cluster_map_watching_ms(&cluster_map), 20000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 10000);
}

static void a_start_that_lost_its_row_is_known_while_it_owns_something(void **state)
{
    (void)state;
    view(STR("b/1"), 700, STR("b/1"), 10000);
    view(STR("b/2"), 900, STR("b/1"), 11000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 10000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/2")), 11000);
    view(STR("b/2"), 900, STR("b/2"), 12000);
    assert_int_equal(cluster_map_changed_ms(&cluster_map, STR("b/1")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_beat_counts_from_when_it_was_first_seen, begin, end),
        cmocka_unit_test_setup_teardown(a_gap_begins_the_watch_again_and_moves_no_beat, begin, end),
        cmocka_unit_test_setup_teardown(a_start_that_lost_its_row_is_known_while_it_owns_something,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
