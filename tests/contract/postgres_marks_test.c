/* Marks of turns on PostgreSQL: what was called lost stays lost, and a database that went back is noticed. */
#include "site.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Its words lie in the socket of a backend that was stopped: when it goes on, it must fail. */
TEST(a_commit_that_comes_late_finds_its_place_taken, site_empty)
{
    struct site a = site_open("a", "a1");
    enum settled settled;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = site_stop_backend(&a);
    a.member = NULL;
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_rc(a.store->ops->settle(a.store, &a.own, 2, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    site_let_go_on(&a, backend);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    assert_rc(site_commit(&a, 2, 101), RC_OK);
    site_close(&a);
}

/* However many commits come between: the marks of those are folded away, the one in its way is not. */
TEST(a_commit_that_comes_very_late_finds_its_place_taken, site_empty)
{
    struct site a = site_open("a", "a1");
    enum settled settled;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = site_stop_backend(&a);
    a.member = NULL;
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_rc(a.store->ops->settle(a.store, &a.own, 2, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    for (uint64_t turn = 2; turn < 602; turn++)
        assert_rc(site_commit(&a, turn, 200 + turn), RC_OK);
    site_let_go_on(&a, backend);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    site_close(&a);
}

static void load_nothing(struct site *s)
{
    const struct load_sink sink = {0};
    assert_rc(s->store->ops->load(s->store, &s->own, T0, &sink, &s->err), RC_OK);
}

/* What is owned has changed before anybody could settle, so the load does. Others come and go meanwhile, and
 * forget what is of no use: the mark is, as long as the epoch lives that the commit was sent under. */
TEST(a_load_settles_under_the_epoch_of_then, site_empty)
{
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 2);
    pid_t backend = site_stop_backend(&a);
    assert_rc(a.store->ops->member(a.store, &a.member, &a.err), RC_OK);
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    site_take(&a, 1); /* a lower one */
    load_nothing(&a);
    assert_rc(a.member->ops->release(a.member, 1, &a.own, &a.err), RC_OK);
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 1);
    site_let_go_on(&a, backend);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    site_close(&a);
    site_close(&b);
}

/* Everything was given back when the doubt is settled: then nothing is owned under any epoch. */
TEST(a_mark_outlives_a_release, site_empty)
{
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 2);
    pid_t backend = site_stop_backend(&a);
    assert_rc(a.store->ops->member(a.store, &a.member, &a.err), RC_OK);
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_rc(a.member->ops->release(a.member, 2, &a.own, &a.err), RC_OK);
    load_nothing(&a);
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 1);
    site_let_go_on(&a, backend);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    site_close(&a);
    site_close(&b);
}

TEST(what_was_called_lost_cannot_be_committed_any_more, site_empty)
{
    struct site a = site_open("a", "a1");
    enum settled settled;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    struct exec_change nobody = {.kind = CHANGE_UPDATE, .exec = {.id = 99}};
    struct delta delta = {.turn = 3, .execs = &nobody, .exec_count = 1};
    assert_rc(a.store->ops->commit(a.store, &a.own, &delta, &a.err), RC_CONFLICT);
    assert_rc(a.store->ops->settle(a.store, &a.own, 3, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.turn WHERE turn = 3 AND NOT kept"), 1);
    /* The same number may be tried again, and is then found. */
    assert_rc(site_commit(&a, 3, 100), RC_OK);
    assert_rc(a.store->ops->settle(a.store, &a.own, 3, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_KEPT);
    site_close(&a);
}

TEST(old_marks_go_with_their_epochs, site_empty)
{
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    for (uint64_t turn = 1; turn <= 600; turn++)
        assert_rc(site_commit(&a, turn, turn), RC_OK);
    assert_true(site_ask("SELECT count(*) FROM belfry.turn") < 300);
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 15);
    assert_int_equal(b.own.turn_floor, 600);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.turn"), 1); /* the newest */
    assert_rc(b.member->ops->forget(b.member, b.seen.nodes, b.seen.node_count, &b.err), RC_OK);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.turn"), 0); /* a has no row any more */
    site_close(&a);
    site_close(&b);
}

/* ---- a database that has gone back to an earlier state */

/* As a standby that had not heard of what came after this turn. */
static void go_back_to(uint64_t turn)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "DELETE FROM belfry.turn WHERE turn > %" PRIu64
             "; DELETE FROM belfry.worker WHERE id > %" PRIu64,
             turn, 100 + turn);
    cluster_sql(site_cluster, sql);
}

static struct site site_with_turns(const char *name, const char *start, uint64_t turns)
{
    struct site s = site_open(name, start);
    assert_rc(site_renew(&s, NULL), RC_OK);
    site_take(&s, 15);
    for (uint64_t turn = 1; turn <= turns; turn++)
        assert_rc(site_commit(&s, turn, 100 + turn), RC_OK);
    return s;
}

TEST(who_knows_more_than_the_database_may_not_go_on, site_empty)
{
    struct site a = site_with_turns("a", "a1", 10);
    struct cluster_view view;
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    go_back_to(7);
    assert_rc(site_commit(&a, 11, 111), RC_DEPOSED);
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_DEPOSED);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker WHERE id = 111"), 0);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 3);
    site_close(&a);
}

/* After a takeover numbers go on from those of the server before. */
TEST(numbers_that_a_server_never_had_are_not_lost, site_empty)
{
    struct site a = site_with_turns("a", "a1", 10);
    struct cluster_view view;
    assert_rc(site_commit(&a, 5001, 111), RC_OK);
    assert_rc(site_commit(&a, 5002, 112), RC_OK);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    go_back_to(9);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 3);
    site_close(&a);
}

TEST(what_is_recovered_has_numbers_that_nobody_has_seen, site_empty)
{
    struct site a = site_with_turns("a", "a1", 10);
    struct ownership before = a.own;
    struct cluster_view old;
    struct cluster_view view;
    assert_rc(site_renew(&a, &old), RC_OK);
    go_back_to(7);
    cluster_sql(site_cluster, "UPDATE belfry.partition SET owner = '', epoch = 0 WHERE id = 3");
    assert_rc(a.member->ops->recover(a.member, &a.me, &a.own, &a.err), RC_OK);
    assert_int_equal(ownership_set(&a.own).bits, 7); /* the fourth was taken in what is lost */
    for (size_t p = 0; p < 3; p++)
        assert_true(a.own.epochs[p] >= before.epochs[p] + (1 << 20));
    assert_true(site_ask("SELECT epoch FROM belfry.partition WHERE id = 3") > 1 << 20);
    assert_true(a.own.token_floor >= 1 << 20);
    struct ownership of_before = a.own;
    a.own = before;
    assert_rc(site_commit(&a, 11, 111), RC_DEPOSED);
    a.own = of_before;
    assert_rc(site_commit(&a, 11, 111), RC_OK);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    assert_true(view.settings_version >= old.settings_version + (1 << 20));
    go_back_to(10); /* the chain goes on from there */
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_true(view.lost_turns > 0);
    site_close(&a);
}

/* Whoever takes a partition forgets marks of other epochs, but nobody's newest one. */
TEST(the_newest_mark_outlives_its_epoch, site_empty)
{
    struct site a = site_with_turns("a", "a1", 300);
    struct cluster_view view;
    assert_rc(a.member->ops->release(a.member, 15, &a.own, &a.err), RC_OK);
    struct site b = site_with_turns("b", "b1", 1);
    assert_rc(b.member->ops->forget(b.member, NULL, 0, &b.err), RC_OK);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    assert_rc(b.member->ops->release(b.member, 15, &b.own, &b.err), RC_OK);
    site_take(&a, 15);
    assert_rc(site_commit(&a, 301, 1000), RC_OK);
    site_close(&a);
    site_close(&b);
}

/* It deletes the marks of others, as it always did. */
TEST(beside_an_older_version_no_mark_is_asked_for, site_empty)
{
    struct site a = site_with_turns("a", "a1", 10);
    struct cluster_view view;
    cluster_sql(site_cluster,
                "INSERT INTO belfry.node (name, start, address, version, draining, "
                "clock_ms, started_ms, seen_ms) SELECT 'old', 'old1', address, version, "
                "draining, clock_ms, started_ms, seen_ms FROM belfry.node");
    assert_rc(site_renew(&a, &view), RC_OK);
    cluster_sql(site_cluster, "DELETE FROM belfry.turn");
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    assert_rc(site_commit(&a, 11, 111), RC_OK);
    cluster_sql(site_cluster,
                "DELETE FROM belfry.node WHERE name = 'old'; DELETE FROM belfry.turn");
    assert_rc(site_renew(&a, &view), RC_OK); /* from the next commit on it is, again */
    assert_int_equal(view.lost_turns, 0);
    assert_rc(site_commit(&a, 12, 112), RC_OK);
    assert_rc(site_commit(&a, 13, 113), RC_OK);
    go_back_to(12);
    assert_rc(site_commit(&a, 14, 114), RC_DEPOSED);
    site_close(&a);
}

/* The epoch is that of whoever had it until somebody takes it. */
TEST(what_was_given_back_takes_no_commit, site_empty)
{
    struct site a = site_with_turns("a", "a1", 1);
    struct ownership before = a.own;
    enum settled settled;
    assert_rc(a.member->ops->release(a.member, 8, &a.own, &a.err), RC_OK);
    assert_rc(site_commit(&a, 2, 102), RC_OK);
    a.own = before;
    assert_rc(site_commit(&a, 3, 103), RC_DEPOSED);
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_DEPOSED);
    assert_rc(a.store->ops->settle(a.store, &a.own, 3, &settled, &a.err), RC_DEPOSED);
    site_close(&a);
}

static int begin(void **state)
{
    (void)state;
    site_cluster = cluster_start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    cluster_stop(site_cluster);
    return 0;
}

TEST_GROUP(begin, end)
