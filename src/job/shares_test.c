#include "job/shares.h"

#include "base/rng.h"
#include "base/test/test.h"

#include <string.h>

/* A cluster that servers change by their own plans. */
struct world {
    struct shares_node nodes[SHARES_NODES_MAX];
    struct shares_place places[PARTITIONS_MAX];
    int node_count;
    uint32_t partitions;
    bool just_back;
    unsigned moved;
};

static struct world world_new(int nodes, uint32_t partitions)
{
    struct world w = {.node_count = nodes, .partitions = partitions};
    for (uint32_t p = 0; p < partitions; p++)
        w.places[p] = (struct shares_place){SHARES_NOBODY, SHARES_NOBODY};
    return w;
}

static struct shares_plan plan_of(const struct world *w, int me)
{
    return shares_make(&(struct shares_view){
        .me = me,
        .just_back = w->just_back,
        .nodes = w->nodes,
        .node_count = w->node_count,
        .places = w->places,
        .partitions = w->partitions,
    });
}

static void act(struct world *w, int me)
{
    struct shares_plan plan = plan_of(w, me);
    assert_int_equal(plan.take & plan.give, 0);
    for (uint32_t p = 0; p < w->partitions; p++) {
        struct shares_place *place = &w->places[p];
        if (plan.give >> p & 1) {
            assert_int_equal(place->owner, me);
            *place = (struct shares_place){SHARES_NOBODY, me};
        }
        if (plan.take >> p & 1) {
            assert_true(place->owner < 0 || w->nodes[place->owner].silent);
            *place = (struct shares_place){me, place->owner >= 0 ? place->owner : place->former};
            w->moved++;
        }
    }
}

static void settle(struct world *w)
{
    for (int round = 0; round < 3; round++) {
        for (int n = 0; n < w->node_count; n++) {
            if (!w->nodes[n].silent)
                act(w, n);
        }
    }
}

static uint32_t held_by(const struct world *w, int node)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < w->partitions; p++)
        count += w->places[p].owner == node;
    return count;
}

TEST(a_server_alone_takes_everything)
{
    struct world w = world_new(1, 16);
    assert_int_equal(plan_of(&w, 0).take, 0xffff);
    settle(&w);
    assert_int_equal(held_by(&w, 0), 16);
    assert_int_equal(plan_of(&w, 0).take | plan_of(&w, 0).give, 0);
}

TEST(servers_that_start_together_share_and_do_not_fight)
{
    struct world w = world_new(3, 16);
    uint64_t a = plan_of(&w, 0).take;
    uint64_t b = plan_of(&w, 1).take;
    uint64_t c = plan_of(&w, 2).take;
    assert_int_equal(a & b, 0);
    assert_int_equal((a | b) & c, 0);
    assert_int_equal(a | b | c, 0xffff);
}

TEST(one_that_joins_gets_its_share_and_no_more_moves)
{
    struct world w = world_new(1, 16);
    settle(&w);
    w.node_count = 2;
    w.moved = 0;
    settle(&w);
    assert_int_equal(held_by(&w, 0), 8);
    assert_int_equal(held_by(&w, 1), 8);
    assert_int_equal(w.moved, 8);
    w.node_count = 3;
    w.moved = 0;
    settle(&w);
    assert_int_equal(held_by(&w, 2), 5);
    assert_int_equal(w.moved, 5);
}

TEST(what_a_silent_server_had_is_divided)
{
    struct world w = world_new(3, 16);
    settle(&w);
    w.nodes[1].silent = true;
    w.moved = 0;
    settle(&w);
    assert_int_equal(held_by(&w, 0), 8);
    assert_int_equal(held_by(&w, 2), 8);
    assert_in_range(w.moved, 5, 6);
}

TEST(one_that_drains_gives_all_unless_nobody_else_is_there)
{
    struct world w = world_new(2, 16);
    settle(&w);
    w.nodes[0].draining = true;
    settle(&w);
    assert_int_equal(held_by(&w, 0), 0);
    assert_int_equal(held_by(&w, 1), 16);
    w.nodes[1].draining = true;
    assert_int_equal(plan_of(&w, 1).give, 0);
}

TEST(the_first_one_back_after_an_outage_leaves_others_theirs)
{
    struct world w = world_new(3, 16);
    settle(&w);
    struct world before = w;
    w.nodes[0].silent = w.nodes[1].silent = true;
    w.just_back = true;
    w.moved = 0;
    act(&w, 2);
    assert_int_equal(w.moved, 0);
    w.nodes[0].silent = w.nodes[1].silent = false;
    settle(&w);
    w.just_back = false;
    settle(&w);
    assert_int_equal(w.moved, 0);
    assert_memory_equal(w.places, before.places, sizeof w.places);
}

TEST(who_had_it_before_is_given_it_again)
{
    struct world w = world_new(2, 4);
    for (uint32_t p = 0; p < 4; p++)
        w.places[p].former = p < 2 ? 1 : 0;
    assert_int_equal(plan_of(&w, 0).take, 0xc);
    assert_int_equal(plan_of(&w, 1).take, 0x3);
}

TEST(more_servers_than_partitions_leave_some_with_nothing)
{
    struct world w = world_new(5, 3);
    settle(&w);
    uint32_t all = 0;
    for (int n = 0; n < 5; n++) {
        assert_in_range(held_by(&w, n), 0, 1);
        all += held_by(&w, n);
    }
    assert_int_equal(all, 3);
}

TEST(whatever_comes_and_goes_it_settles_in_equal_shares)
{
    struct rng rng = {20261116};
    for (int run = 0; run < 300; run++) {
        struct world w = world_new(1 + (int)rng_below(&rng, 8), 1 + (uint32_t)rng_below(&rng, 64));
        for (int change = 0; change < 12; change++) {
            struct shares_node *n = &w.nodes[rng_below(&rng, (uint64_t)w.node_count)];
            n->silent = rng_below(&rng, 3) == 0;
            n->draining = rng_below(&rng, 4) == 0;
            settle(&w);
            uint32_t servers = 0;
            for (int i = 0; i < w.node_count; i++)
                servers += !w.nodes[i].silent && !w.nodes[i].draining;
            w.moved = 0;
            settle(&w);
            assert_int_equal(w.moved, 0);
            for (int i = 0; servers > 0 && i < w.node_count; i++) {
                bool takes = !w.nodes[i].silent && !w.nodes[i].draining;
                uint32_t low = takes ? w.partitions / servers : 0;
                uint32_t high = takes ? (w.partitions + servers - 1) / servers : 0;
                assert_in_range(held_by(&w, i), low, high);
            }
        }
    }
}
