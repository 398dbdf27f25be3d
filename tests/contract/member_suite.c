/* Several servers on one store: who is there, who owns what, and what a former owner cannot do.
 * Stores that only one server can have open have none of it, and pass over these. */
#include "peers.h"

/* ---- who is there */

PROMISE(everybody_sees_who_is_there)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    pair.b.me.draining = true;
    pair.b.me.clock_ms = T0 + 77;
    pair.b.me.lease_ms = 20000;
    pair.b.me.grace_ms = 60000;
    pair.b.me.boot_id = STR("4b1d");
    peer_renew(w, &pair.b);
    struct cluster_view view = peer_renew(w, &pair.a);
    assert_int_equal(view.node_count, 2);
    assert_str(view.nodes[0].name, STR("a"));
    assert_str(view.nodes[1].name, STR("b"));
    assert_str(view.nodes[1].start, STR("b-1"));
    assert_str(view.nodes[1].address, STR("http://127.0.0.1:1"));
    assert_str(view.nodes[1].version, STR("1.0"));
    assert_true(view.nodes[1].draining);
    assert_int_equal(view.nodes[1].clock_ms, T0 + 77);
    assert_int_equal(view.nodes[1].lease_ms, 20000);
    assert_int_equal(view.nodes[1].grace_ms, 60000);
    assert_str(view.nodes[1].boot_id, STR("4b1d"));
    assert_true(view.nodes[1].started_ms <= view.nodes[1].seen_ms);
    assert_true(view.nodes[1].seen_ms <= view.now_ms);
    assert_true(view.partition_count > 1);
    pair_free(&pair);
}

PROMISE(a_renewal_is_seen_and_a_start_stays)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct node_rec before = peer_renew(w, &pair.a).nodes[0];
    peers_pass(w, 1000);
    struct cluster_view view = peer_renew(w, &pair.b);
    assert_true(view.now_ms - view.nodes[0].seen_ms >= 1000);
    view = peer_renew(w, &pair.a);
    assert_true(view.now_ms - view.nodes[0].seen_ms < 1000);
    assert_true(view.nodes[0].started_ms <= before.started_ms); /* pass may have aged it */
    pair_free(&pair);
}

PROMISE(a_name_has_one_server)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct peer twin = peer_new(w, "a", "a-2");
    struct cluster_view view;
    assert_rc(peer_try_renew(w, &twin, &view), RC_CONFLICT);
    assert_int_equal(peer_renew(w, &pair.a).node_count, 2);

    twin.lapsed_ms = view.nodes[0].seen_ms; /* that beat was not its last one */
    peers_pass(w, 10);
    peer_renew(w, &pair.a);
    assert_rc(peer_try_renew(w, &twin, &view), RC_CONFLICT);
    peers_pass(w, LEASE_MS + 1000);
    assert_rc(peer_try_renew(w, &twin, &view), RC_CONFLICT); /* the store's clock says nothing */
    twin.lapsed_ms = view.nodes[0].seen_ms;                  /* this was: its name is free */
    view = peer_renew(w, &twin);
    assert_int_equal(view.node_count, 2);
    assert_str(view.nodes[0].start, STR("a-2"));
    assert_rc(peer_try_renew(w, &pair.a, &view),
              RC_DEPOSED); /* and it is told so when it is back */
    peers_pass(w, LEASE_MS + 1000);
    assert_rc(peer_try_renew(w, &pair.a, &view), RC_DEPOSED); /* for good */
    peer_free(&twin);
    pair_free(&pair);
}

PROMISE(who_leaves_is_gone_with_all_it_had)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    uint64_t had = peer_take(w, &pair.a, UINT64_MAX);
    assert_int_equal(had, peer_all(&pair.a));
    assert_rc(pair.a.member->ops->leave(pair.a.member, &pair.a.me, &w->err), RC_OK);
    struct cluster_view view = peer_renew(w, &pair.b);
    assert_int_equal(view.node_count, 1);
    for (size_t i = 0; i < view.partition_count; i++) {
        assert_str(view.partitions[i].owner, STR(""));
        assert_str(view.partitions[i].former, STR("a-1"));
    }
    assert_int_equal(peer_take(w, &pair.b, UINT64_MAX),
                     had); /* at once, without a lease to wait for */
    pair_free(&pair);
}

PROMISE(who_is_silent_for_long_and_owns_nothing_is_forgotten)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct peer third = peer_new(w, "c", "c-1");
    peer_renew(w, &third);
    peer_take(w, &pair.a, 1);
    struct cluster_view view = peer_renew(w, &pair.b);
    peers_pass(w, 10);
    peer_renew(w, &third);
    assert_rc(pair.b.member->ops->forget(pair.b.member, view.nodes, view.node_count, &w->err),
              RC_OK);
    view = peer_renew(w, &pair.b);
    assert_int_equal(view.node_count, 3); /* c was heard of since */
    struct node_rec gone[] = {view.nodes[0], view.nodes[2]};
    peers_pass(w, -60000);                                     /* whatever the store's clock says */
    gone[0].seen_ms = peer_renew(w, &pair.b).nodes[0].seen_ms; /* pass may have aged it */
    gone[1].seen_ms = peer_renew(w, &pair.b).nodes[2].seen_ms;
    assert_rc(pair.b.member->ops->forget(pair.b.member, gone, 2, &w->err), RC_OK);
    view = peer_renew(w, &pair.b);
    assert_int_equal(view.node_count, 2); /* a owns something, b is there, c is gone */
    assert_str(view.nodes[0].name, STR("a"));
    assert_str(view.nodes[1].name, STR("b"));
    peer_free(&third);
    pair_free(&pair);
}

/* ---- who owns what */

PROMISE(a_partition_has_one_owner)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    uint64_t mine = peer_take(w, &pair.a, 0x5);
    assert_int_equal(mine, 0x5);
    uint64_t theirs = peer_take(w, &pair.b, UINT64_MAX);
    assert_int_equal(theirs, peer_all(&pair.b) & ~mine);
    assert_int_equal(peer_take(w, &pair.a, UINT64_MAX), mine);
    struct cluster_view view = peer_renew(w, &pair.a);
    for (uint32_t i = 0; i < view.partition_count; i++) {
        bool is_mine = mine >> i & 1;
        assert_str(view.partitions[i].owner, is_mine ? STR("a-1") : STR("b-1"));
        assert_int_equal(view.partitions[i].epoch,
                         is_mine ? pair.a.own.epochs[i] : pair.b.own.epochs[i]);
    }
    pair_free(&pair);
}

PROMISE(whoever_renews_keeps_what_it_has)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    for (int i = 0; i < 3; i++) {
        peers_pass(w, LEASE_MS - 1000);
        peer_renew(w, &pair.a);
        assert_int_equal(peer_take(w, &pair.b, 0x3), 0);
    }
    pair_free(&pair);
}

PROMISE(who_is_silent_can_be_deprived)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    uint64_t epoch = pair.a.own.epochs[1];
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    assert_int_equal(peer_take(w, &pair.b, 0x2), 0x2);
    assert_true(pair.b.own.epochs[1] > epoch);
    struct cluster_view view = peer_renew(w, &pair.b);
    assert_str(view.partitions[1].owner, STR("b-1"));
    assert_str(view.partitions[1].former, STR("a-1"));
    assert_str(view.partitions[0].owner, STR("a-1")); /* nobody wanted that */
    pair_free(&pair);
}

/* By a server that has watched it: whatever the store's clock says, and only while nothing was heard. */
PROMISE(whoever_is_deprived_has_the_beat_that_was_seen)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    peer_renew(w, &pair.b);
    peers_pass(w, 1); /* a beat has its own mark */
    peer_renew(w, &pair.a);
    assert_int_equal(peer_take(w, &pair.b, 0x3), 0);
    peers_pass(w, -60000);
    peer_renew(w, &pair.b);
    assert_int_equal(peer_take(w, &pair.b, 0x3), 0x3);
    pair_free(&pair);
}

PROMISE(what_is_given_back_is_free)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x7);
    uint64_t epoch = pair.a.own.epochs[2];
    peer_give_back(w, &pair.a, 0x4);
    assert_int_equal(ownership_set(&pair.a.own).bits, 0x3);
    assert_int_equal(peer_take(w, &pair.b, 0x7), 0x4);
    assert_true(pair.b.own.epochs[2] > epoch);
    struct job_change job = peer_job_in(w, &pair.a, 0);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK); /* with what is left */
    pair_free(&pair);
}

PROMISE(giving_back_what_was_taken_changes_nothing)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    peer_take(w, &pair.b, 0x1);
    peer_give_back(w, &pair.a, 0x1);
    assert_str(peer_renew(w, &pair.b).partitions[0].owner, STR("b-1"));
    struct job_change job = peer_job_in(w, &pair.b, 0);
    assert_rc(peer_commit_job(w, &pair.b, &job), RC_OK);
    pair_free(&pair);
}

/* No partition has leases in doubt, whatever tests before this one have left. */
static void be_sure(struct world *w, struct peer *p)
{
    uint64_t all = peer_take(w, p, 0xf);
    assert_rc(p->member->ops->ensure(p->member, all, &p->own, &w->err), RC_OK);
    peer_give_back(w, p, all);
}

/* Of each number the larger one counts; and a node that does not say is given more. */
PROMISE(what_a_silent_owner_promised_is_waited_for)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct peer old = peer_new(w, "c", "c-1");
    be_sure(w, &pair.a);
    pair.a.me.lease_ms = 20000;
    pair.a.me.grace_ms = 30000;
    pair.b.me.lease_ms = 10000;
    pair.b.me.grace_ms = 60000;
    peer_renew(w, &pair.a);
    peer_renew(w, &old);
    peer_take(w, &pair.a, 0x3);
    peer_take(w, &old, 0x4);
    assert_int_equal(pair.a.own.unsure_ms[0], 0);
    assert_int_equal(pair.a.own.deprived, 0);
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    peer_take(w, &pair.b, 0x5);
    assert_int_equal(pair.b.own.deprived, 0x5);
    assert_int_equal(pair.b.own.unsure_ms[0], 80000);
    assert_int_equal(pair.b.own.unsure_ms[2], 10000 + 60000 + NODE_UNSAID_MS);
    peer_take(w, &pair.b, 0x8); /* free */
    assert_int_equal(pair.b.own.deprived, 0);
    assert_int_equal(pair.b.own.unsure_ms[0], 80000);
    assert_int_equal(pair.b.own.unsure_ms[3], 0);
    assert_int_equal(peer_renew(w, &pair.b).partitions[0].unsure_ms, 80000);
    peer_free(&old);
    pair_free(&pair);
}

PROMISE(what_is_left_of_the_wait_goes_to_the_next_owner)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    peer_take(w, &pair.b, 0x3);
    assert_rc(pair.b.member->ops->ensure(pair.b.member, 0x1, &pair.b.own, &w->err), RC_OK);
    assert_int_equal(pair.b.own.unsure_ms[0], 0);
    pair.b.own.unsure_ms[1] = 777;
    peer_give_back(w, &pair.b, 0x3);
    peer_renew(w, &pair.a);
    pair.a.own = (struct ownership){0};
    peer_take(w, &pair.a, 0x3);
    assert_int_equal(pair.a.own.deprived, 0);
    assert_int_equal(pair.a.own.unsure_ms[0], 0);
    assert_int_equal(pair.a.own.unsure_ms[1], 777);
    pair_free(&pair);
}

/* Whoever knows that its predecessor is dead takes its place at once, and what that one waited for goes on. */
PROMISE(a_start_that_is_dead_for_sure_is_replaced_at_once)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct peer next = peer_new(w, "a", "a-2");
    struct cluster_view view;
    be_sure(w, &pair.a);
    peer_take(w, &pair.a, 0x3);
    pair.a.own.unsure_ms[1] = 500;
    peer_give_back(w, &pair.a, 0x2);
    peer_take(w, &pair.a, 0x2);
    assert_rc(peer_try_renew(w, &next, &view), RC_CONFLICT);
    next.me.replaces = STR("a-1");
    peer_renew(w, &next);
    assert_int_equal(peer_take(w, &next, 0x3), 0x3);
    assert_int_equal(next.own.deprived, 0);
    assert_int_equal(next.own.unsure_ms[0], 0);
    assert_int_equal(next.own.unsure_ms[1], 500);
    peer_free(&next);
    pair_free(&pair);
}

PROMISE(owning_takes_only_what_is_free)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x5);
    struct store *s = pair.b.store;
    assert_rc(s->ops->own(s, pair.b.me.start, &pair.b.own, &w->err), RC_OK);
    assert_int_equal(ownership_set(&pair.b.own).bits, peer_all(&pair.b) & ~UINT64_C(0x5));
    struct job_change job = peer_job_in(w, &pair.a, 0);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK);
    pair_free(&pair);
}

/* ---- a former owner */

PROMISE(a_former_owner_can_do_nothing)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    struct job_change first = peer_job_in(w, &pair.a, 0);
    assert_rc(peer_commit_job(w, &pair.a, &first), RC_OK);
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    peer_take(w, &pair.b, 0x2); /* one of two is enough */

    struct store *s = pair.a.store;
    enum settled settled;
    struct job_change job = peer_job_in(w, &pair.a, 0);
    assert_rc(s->ops->admit(s, &pair.a.own, NULL, 0, &w->arena, &w->err), RC_DEPOSED);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_DEPOSED);
    assert_rc(s->ops->settle(s, &pair.a.own, pair.a.turn, &settled, &w->err), RC_DEPOSED);
    assert_false(job_exists(w, job.job.id));
    peer_renew(w, &pair.a); /* being back alone helps nothing */
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_DEPOSED);
    pair.a.own.epochs[1] = 0; /* leaving it out does */
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK);
    pair_free(&pair);
}

PROMISE(a_turn_under_way_ends_before_its_partitions_are_taken)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    struct store *s = pair.a.store;
    assert_rc(s->ops->admit(s, &pair.a.own, NULL, 0, &w->arena, &w->err), RC_OK);
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    assert_int_equal(peer_take(w, &pair.b, UINT64_MAX) & 0x3, 0);
    struct job_change job = peer_job_in(w, &pair.a, 0);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK);
    assert_int_equal(peer_take(w, &pair.b, 0x3) & 0x3, 0x3);
    job = peer_job_in(w, &pair.a, 0);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_DEPOSED);
    pair_free(&pair);
}

PROMISE(an_aborted_turn_holds_nobody_up)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    struct store *s = pair.a.store;
    assert_rc(s->ops->admit(s, &pair.a.own, NULL, 0, &w->arena, &w->err), RC_OK);
    s->ops->abort(s);
    peers_pass(w, LEASE_MS + 1000);
    peer_renew(w, &pair.b);
    assert_int_equal(peer_take(w, &pair.b, 0x3), 0x3);
    pair_free(&pair);
}

/* ---- what a successor is told */

PROMISE(a_successor_learns_ids_and_turns)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    struct job_change job = peer_job_in(w, &pair.a, 0);
    for (int i = 0; i < 3; i++) {
        job = peer_job_in(w, &pair.a, 0);
        assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK);
    }
    struct job_change other = peer_job_in(w, &pair.b, 1);
    assert_rc(peer_commit_job(w, &pair.b, &other), RC_OK);
    peer_give_back(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x1);
    assert_true(pair.b.own.id_floor >= job.job.id);
    assert_true(pair.b.own.turn_floor >= pair.a.turn);

    struct peer third = peer_new(w, "c", "c-1");
    peer_renew(w, &third);
    peer_give_back(w, &pair.b, 0x2);
    peer_take(w, &third, 0x2);
    assert_true(third.own.id_floor >= other.job.id);
    peer_free(&third);
    pair_free(&pair);
}

PROMISE(a_commit_is_settled_under_what_its_server_has)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x3);
    peer_take(w, &pair.b, 0xc);
    struct job_change job = peer_job_in(w, &pair.b, 2);
    for (int i = 0; i < 5; i++) { /* its turns are not those of the other */
        job = peer_job_in(w, &pair.b, 2);
        assert_rc(peer_commit_job(w, &pair.b, &job), RC_OK);
    }
    struct store *s = pair.a.store;
    enum settled settled;
    job = peer_job_in(w, &pair.a, 1);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK);
    assert_rc(s->ops->settle(s, &pair.a.own, pair.a.turn, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_KEPT);
    assert_rc(s->ops->settle(s, &pair.a.own, pair.a.turn + 1, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    pair_free(&pair);
}
