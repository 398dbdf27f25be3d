#include "loop/clock.h"
#include "server/cluster/fake_member_test.h"
#include "server/cluster/membership.h"

#include <stdio.h>

enum { LEASE_MS = 2000, WORKER_LEASE_MS = 20000, GRACE_MS = 60000 };

/* A server: its membership, and a decider that obeys. */
struct one {
    struct membership *m;
    uint64_t serial;
    struct ownership own;
    bool stubborn; /* does not stop deciding */
};

static enum rc join_for(struct one *s, const char *name, const char *start, int64_t lease_ms)
{
    struct err err;
    *s = (struct one){0};
    const struct membership_options options = {
        .name = str_c(name),
        .start = str_c(start),
        .address = str_c(name),
        .version = STR("1"),
        .lease_ms = lease_ms,
        .worker_lease_ms = WORKER_LEASE_MS,
        .grace_ms = GRACE_MS,
    };
    return membership_join(&store, &options, &s->m, &err);
}

static void obey(struct one *s)
{
    if (!s->stubborn && membership_news(s->m, &s->serial, &s->own))
        membership_obey(s->m, s->serial);
}

static void join(struct one *s, const char *name)
{
    assert_int_equal(join_for(s, name, name, LEASE_MS), RC_OK);
    obey(s);
}

static void beat(struct one *s)
{
    cluster.now_ms += 100;
    membership_beat(s->m);
    obey(s);
}

/* For longer than a lease nothing is heard of that one, while this one goes on. */
static void outlive(struct one *s, const char *dead)
{
    int64_t until_ms = clock_boot_ms() + LEASE_MS + LEASE_MS / 4;
    cluster.dead[row_of(&cluster, str_c(dead)) - cluster.nodes] = true;
    while (clock_boot_ms() < until_ms) {
        beat(s);
        clock_pause_us(20000);
    }
    beat(s);
}

static int count_of(const struct one *s)
{
    return __builtin_popcountll(ownership_set(&s->own).bits);
}

static int setup(void **state)
{
    (void)state;
    cluster = (struct fake){.now_ms = 1800000000000};
    return 0;
}

TEST(the_first_server_owns_all_and_the_second_gets_half, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    assert_int_equal(count_of(&a), 16);
    assert_true(membership_may_decide(a.m));
    join(&b, "b");
    assert_int_equal(count_of(&b), 0); /* a has them, and is there */
    beat(&a);
    assert_int_equal(count_of(&a), 8); /* it has stopped deciding about the other half … */
    beat(&b);
    assert_int_equal(count_of(&b), 0); /* … which is given only now that it has said so */
    beat(&a);
    beat(&b);
    assert_int_equal(count_of(&b), 8);
    assert_int_equal(ownership_set(&a.own).bits & ownership_set(&b.own).bits, 0);
    membership_free(a.m);
    membership_free(b.m);
}

TEST(nothing_is_given_before_the_decider_has_stopped, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    join(&b, "b");
    a.stubborn = true;
    for (int i = 0; i < 5; i++) {
        beat(&a);
        beat(&b);
    }
    assert_int_equal(count_of(&b), 0);
    a.stubborn = false;
    beat(&a);
    beat(&a);
    beat(&b);
    assert_int_equal(count_of(&b), 8);
    membership_free(a.m);
    membership_free(b.m);
}

TEST(what_a_silent_server_had_is_taken_and_it_hears_of_that, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    join(&b, "b");
    beat(&a);
    beat(&a);
    beat(&b);
    outlive(&b, "a");
    assert_int_equal(count_of(&b), 16);
    uint64_t ticket = membership_doubt(a.m);
    assert_false(membership_is_cleared(a.m, ticket));
    beat(&a);
    assert_true(membership_is_cleared(a.m, ticket));
    assert_int_equal(count_of(&a), 0);
    assert_non_null(strstr(membership_why_idle(a.m), "took its partitions"));
    beat(&b);
    beat(&b);
    beat(&a);
    assert_int_equal(count_of(&a), 8); /* politely this time */
    assert_null(membership_why_idle(a.m));
    membership_free(a.m);
    membership_free(b.m);
}

/* Nobody is deposed, and nobody kept, because the store's clock was set. */
TEST(the_stores_clock_says_nothing_about_who_is_there, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    join(&b, "b");
    beat(&a);
    beat(&a);
    beat(&b);
    for (int i = 0; i < 4; i++) {
        cluster.now_ms += i % 2 == 0 ? 86400000 : -86400000;
        beat(&b);
        beat(&a);
        assert_int_equal(count_of(&a), 8);
        assert_int_equal(count_of(&b), 8);
    }
    cluster.now_ms -= 86400000; /* by the store's clock its last beat is in the future */
    outlive(&b, "a");
    assert_int_equal(count_of(&b), 16);
    membership_free(a.m);
    membership_free(b.m);
}

/* Names that come and go: rows stay for an hour. */
TEST(any_number_of_nodes_that_are_gone_is_in_nobodys_way, setup)
{
    static char names[NODES - 2][8];
    for (size_t i = 0; i < NODES - 2; i++) {
        snprintf(names[i], sizeof names[i], "x%zu", i);
        cluster.nodes[i] = (struct node_rec){.name = str_c(names[i]), .start = str_c(names[i])};
        cluster.dead[i] = true;
    }
    cluster.node_count = NODES - 2;
    for (size_t p = 0; p < PARTITIONS; p++)
        cluster.partitions[p] = (struct partition_rec){.epoch = 1, .owner = str_c(names[500 + p])};
    struct one a;
    struct one b;
    join(&a, "a");
    assert_int_equal(count_of(&a), 16);
    join(&b, "b");
    beat(&a);
    beat(&a);
    outlive(&b, names[0]); /* by then it knows that they are gone */
    assert_int_equal(count_of(&a), 8);
    assert_int_equal(count_of(&b), 8);
    membership_free(a.m);
    membership_free(b.m);
}

TEST(who_cannot_renew_stops_deciding_before_its_lease_is_over, setup)
{
    struct one a;
    int64_t before_ms = clock_boot_ms(); /* the first renewal was sent between these two, */
    assert_int_equal(join_for(&a, "a", "a", 200), RC_OK);
    int64_t after_ms = clock_boot_ms();
    int64_t could_ms = after_ms;
    int64_t asked_ms = after_ms;
    cluster.fails = RC_IO;
    while (membership_may_decide(a.m)) { /* however long we are put aside on the way */
        could_ms = asked_ms;
        asked_ms = clock_boot_ms();
        membership_beat(a.m);
        clock_pause_us(1000);
    }
    assert_true(could_ms < after_ms + 160);
    assert_true(clock_boot_ms() >= before_ms + 160);
    cluster.fails = RC_OK;
    membership_beat(a.m);
    assert_true(membership_may_decide(a.m));
    membership_free(a.m);
}

TEST(a_second_server_of_one_name_is_refused, setup)
{
    struct one a;
    struct one b;
    assert_int_equal(join_for(&a, "a", "first", 100), RC_OK);
    assert_int_equal(join_for(&b, "a", "second", 100), RC_CONFLICT);
    membership_free(a.m);
}

TEST(one_that_drains_hands_over_everything, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    join(&b, "b");
    beat(&a);
    beat(&a);
    beat(&b);
    membership_drain(a.m);
    assert_false(membership_has_handed_over(a.m));
    beat(&a);
    beat(&a);
    beat(&a);
    assert_true(membership_has_handed_over(a.m));
    beat(&b);
    assert_int_equal(count_of(&b), 16);
    membership_drain(b.m);
    beat(&b);
    assert_int_equal(count_of(&b), 16); /* nobody is there to take them */
    assert_true(membership_has_handed_over(b.m));
    membership_free(a.m);
    membership_free(b.m);
}

TEST(any_server_knows_who_owns_an_id, setup)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct one a;
    struct one b;
    struct peer owner;
    struct peer *peers;
    join(&a, "a");
    join(&b, "b");
    beat(&a);
    beat(&a);
    beat(&b);
    beat(&a);
    beat(&b);
    for (uint32_t bucket = 0; bucket < ID_BUCKETS; bucket++) {
        uint64_t id = (uint64_t)bucket << 12;
        assert_true(membership_owner(a.m, id, &arena, &owner));
        assert_int_equal(membership_owns(a.m, id), str_eq(owner.name, STR("a")));
        assert_int_equal(membership_owns(b.m, id), str_eq(owner.name, STR("b")));
    }
    assert_int_equal(membership_peers(a.m, &arena, &peers), 1);
    assert_true(str_eq(peers[0].address, STR("b")));
    membership_free(a.m);
    membership_free(b.m);
}

/* How many partitions this server says are its own, under the epochs that it has. */
static int shown_of(struct one *s, const char *start)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct cluster_view view;
    struct node_rec me;
    int count = 0;
    membership_look(s->m, &arena, &view, &me);
    for (size_t p = 0; p < view.partition_count; p++)
        count += str_eq(view.partitions[p].owner, str_c(start)) &&
                 view.partitions[p].epoch == s->own.epochs[p];
    return count;
}

/* Whoever asks may do so the moment after, and is not to hear of the owner before. */
TEST(what_was_taken_is_shown_at_once, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    assert_int_equal(shown_of(&a, "a"), 16);
    join(&b, "b");
    beat(&a);
    beat(&a);
    beat(&b);
    assert_int_equal(shown_of(&b, "b"), 8);
    int64_t until_ms = clock_boot_ms() + (int64_t)10 * LEASE_MS;
    cluster.dead[row_of(&cluster, STR("a")) - cluster.nodes] = true;
    while (count_of(&b) < 16 && clock_boot_ms() < until_ms) {
        beat(&b);
        assert_int_equal(shown_of(&b, "b"), count_of(&b));
        clock_pause_us(20000);
    }
    assert_int_equal(shown_of(&b, "b"), 16);
    membership_free(a.m);
    membership_free(b.m);
}

/* What a silent server may have kept alive is waited for, from when we saw its last beat; what is
 * left goes with what is given, and nothing when no such lease remains. */
TEST(what_was_taken_from_a_silent_server_is_waited_for, setup)
{
    struct one a;
    struct one b;
    join(&a, "a");
    assert_int_equal(a.own.unsure_until_ms[0], 0);
    join(&b, "b");
    int64_t before_ms = clock_boot_ms();
    outlive(&b, "a");
    assert_int_equal(count_of(&b), 16);
    assert_in_range(b.own.unsure_until_ms[0], before_ms - 1000 + WORKER_LEASE_MS + GRACE_MS,
                    clock_boot_ms() + WORKER_LEASE_MS + GRACE_MS);
    assert_int_equal(cluster.partitions[0].unsure_ms, WORKER_LEASE_MS + GRACE_MS);
    membership_set_unsure(b.m, b.serial - 1, 0); /* of an engine before this */
    beat(&b);
    assert_int_equal(cluster.partitions[0].unsure_ms, WORKER_LEASE_MS + GRACE_MS);
    membership_set_unsure(b.m, b.serial, UINT64_MAX - 1);
    beat(&b);
    assert_int_equal(cluster.partitions[0].unsure_ms, 0);
    assert_int_equal(cluster.partitions[1].unsure_ms, WORKER_LEASE_MS + GRACE_MS);
    membership_free(a.m);
    membership_free(b.m);
}

/* The engine that is loaded without what is to be given knows nothing about leases in it. */
TEST(what_is_given_stays_as_unsure_as_it_was, setup)
{
    struct one a;
    struct one b;
    struct one c;
    join(&a, "a");
    join(&b, "b");
    outlive(&b, "a");
    assert_int_equal(count_of(&b), 16);
    join(&c, "c");
    beat(&b);
    assert_int_equal(count_of(&b), 8); /* the others are not given yet */
    membership_set_unsure(b.m, b.serial, ownership_set(&b.own).bits);
    beat(&b);
    beat(&c);
    assert_int_equal(count_of(&c), 8); /* half: by the store's clock a is gone, as b has seen */
    for (size_t p = 0; p < PARTITIONS; p++)
        assert_true(cluster.partitions[p].unsure_ms > GRACE_MS);
    membership_free(a.m);
    membership_free(b.m);
    membership_free(c.m);
}

TEST(leases_are_kept_only_of_what_was_not_lost, setup)
{
    struct one a;
    join(&a, "a");
    struct ownership had = a.own;
    assert_int_equal(membership_may_keep(a.m, &had), 0xffff);
    cluster.partitions[3].owner = STR("b"); /* taken from us: the next view says so */
    cluster.partitions[3].epoch++;
    assert_int_equal(membership_may_keep(a.m, &had), 0xffff);
    membership_beat(a.m);
    assert_int_equal(membership_may_keep(a.m, &had) & 0x8, 0);
    assert_true(membership_has_grace(a.m));
    membership_free(a.m);
}

TEST(a_store_that_lost_turns_is_loaded_again_under_new_epochs, setup)
{
    struct one a;
    join(&a, "a");
    beat(&a);
    uint64_t serial = a.serial;
    struct ownership before = a.own;
    assert_int_equal(membership_hear_lost(a.m), 0);
    cluster.lost_turns = 12;
    beat(&a);
    assert_true(a.serial > serial);
    assert_int_equal(count_of(&a), 16);
    for (size_t p = 0; p < PARTITIONS; p++)
        assert_true(a.own.epochs[p] > before.epochs[p]);
    assert_int_equal(membership_hear_lost(a.m), 12);
    assert_int_equal(membership_hear_lost(a.m), 0);
    assert_true(membership_may_decide(a.m));
    membership_free(a.m);
}

/* It had taken a partition, and no turn was kept since. */
TEST(an_epoch_that_went_back_is_noticed, setup)
{
    struct one a;
    join(&a, "a");
    beat(&a);
    cluster.partitions[3].epoch--;
    beat(&a);
    assert_int_equal(membership_hear_lost(a.m), 1);
    assert_int_equal(count_of(&a), 16);
    membership_free(a.m);
}
