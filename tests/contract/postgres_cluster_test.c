/* Several servers on one PostgreSQL: who may decide, and what nobody can undo. */
#include "cluster.h"
#include "world.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <libpq-fe.h>

enum { LEASE_MS = 60000 }; /* longer than any test */

static struct cluster *cluster;

/* A server: its store, its place among the others, and what it owns. */
struct site {
    struct store *store;
    struct member *member;
    struct node_rec me;
    struct ownership own;
    struct arena arena;
    struct err err;
};

static struct site site_open(const char *name, const char *start)
{
    struct site s = {.me = {.name = str_c(name),
                            .start = str_c(start),
                            .address = STR("http://127.0.0.1:1"),
                            .version = STR("0"),
                            .clock_ms = T0}};
    const struct postgres_options options = {
        .lease_ms = LEASE_MS, .partitions = 4, .answer_ms = 1000};
    assert_rc(store_postgres_open(cluster_url(cluster), &options, &s.store, &s.err), RC_OK);
    assert_rc(s.store->ops->member(s.store, &s.member, &s.err), RC_OK);
    return s;
}

static void site_close(struct site *s)
{
    s->member->ops->close(s->member);
    s->store->ops->close(s->store);
    arena_free(&s->arena);
}

static enum rc site_renew(struct site *s, struct cluster_view *ret_view)
{
    struct cluster_view view;
    return s->member->ops->renew(s->member, &s->me, LEASE_MS, &s->arena,
                                 ret_view == NULL ? &view : ret_view, &s->err);
}

static void site_take(struct site *s, uint64_t wanted)
{
    assert_rc(s->member->ops->take(s->member, &s->me, wanted, LEASE_MS, &s->own, &s->err), RC_OK);
}

/* A worker's record, as the smallest delta. */
static enum rc site_commit(struct site *s, uint64_t turn, uint64_t id)
{
    struct worker_change worker = {.worker = {.id = id}};
    struct delta delta = {.turn = turn, .workers = &worker, .worker_count = 1};
    enum rc rc = s->store->ops->commit(s->store, &s->own, &delta, &s->err);
    if (rc != RC_OK)
        print_message("%s\n", s->err.text);
    return rc;
}

/* As if nobody had heard of a server for a day. */
static void silence(const char *start)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE belfry.node SET seen_ms = 0 WHERE start = '%s';"
             "UPDATE belfry.partition SET since_ms = 0 WHERE owner = '%s'",
             start, start);
    cluster_sql(cluster, sql);
}

/* One number that the database knows. */
static int64_t ask(const char *sql)
{
    PGconn *conn = PQconnectdb(cluster_url(cluster));
    PGresult *result = PQexec(conn, sql);
    int64_t value = INT64_MIN;
    assert_true(PQntuples(result) == 1 && str_to_i64(str_c(PQgetvalue(result, 0, 0)), &value));
    PQclear(result);
    PQfinish(conn);
    return value;
}

static int empty(void **state)
{
    (void)state;
    struct site s = site_open("setup", "setup");
    site_close(&s);
    cluster_sql(cluster, "DELETE FROM belfry.node; DELETE FROM belfry.turn; "
                         "DELETE FROM belfry.worker; DELETE FROM belfry.queue; "
                         "UPDATE belfry.partition SET epoch = 0, owner = '', former = '', "
                         "since_ms = 0, turn = 0, newest_id = 0, drift_ms = 0");
    return 0;
}

static void servers_share_what_is_there(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    struct cluster_view view;
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&b, &view), RC_OK);
    assert_int_equal(view.node_count, 2);
    assert_int_equal(view.partition_count, 4);
    assert_str(view.nodes[0].name, STR("a"));
    assert_str(view.nodes[1].start, STR("b1"));
    site_take(&a, 3);
    site_take(&b, 15); /* two of them are taken */
    assert_int_equal(ownership_set(&a.own).bits, 3);
    assert_int_equal(ownership_set(&b.own).bits, 12);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_str(view.partitions[0].owner, STR("a1"));
    assert_str(view.partitions[3].owner, STR("b1"));
    assert_rc(site_commit(&a, 1, 100), RC_OK);
    assert_rc(site_commit(&b, 1, 101), RC_OK);
    site_close(&a);
    site_close(&b);
}

static void what_was_given_back_is_free_at_once(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&a, 15);
    uint64_t epoch = a.own.epochs[2];
    assert_rc(a.member->ops->release(a.member, 4, &a.own, &a.err), RC_OK);
    assert_int_equal(ownership_set(&a.own).bits, 11);
    site_take(&b, 15);
    assert_int_equal(ownership_set(&b.own).bits, 4);
    assert_true(b.own.epochs[2] > epoch);
    assert_rc(site_commit(&a, 1, 100), RC_OK); /* with what is left */
    site_close(&a);
    site_close(&b);
}

static void a_silent_owner_is_deposed_and_its_numbers_are_known(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(site_commit(&a, 7, 5000), RC_OK);
    site_take(&b, 15);
    assert_int_equal(ownership_set(&b.own).bits, 0);
    silence("a1");
    site_take(&b, 1); /* one is enough to stop it */
    assert_int_equal(ownership_set(&b.own).bits, 1);
    assert_int_equal(b.own.id_floor, 5000);
    assert_int_equal(b.own.turn_floor, 7);
    assert_rc(site_commit(&a, 8, 5001), RC_DEPOSED);
    enum settled settled;
    assert_rc(a.store->ops->settle(a.store, &a.own, 8, &settled, &a.err), RC_DEPOSED);
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_DEPOSED);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker WHERE id = 5001"), 0);
    site_close(&a);
    site_close(&b);
}

/* Who takes over while a turn is under way waits for its end, or leaves it alone. */
static void a_turn_under_way_is_not_interrupted(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    silence("a1");
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_OK);
    site_take(&b, 15);
    assert_int_equal(ownership_set(&b.own).bits, 0);
    assert_rc(site_commit(&a, 1, 100), RC_OK);
    site_take(&b, 15);
    assert_int_equal(ownership_set(&b.own).bits, 15);
    assert_int_equal(b.own.id_floor, 100);
    site_close(&a);
    site_close(&b);
}

static void a_name_belongs_to_one_server_at_a_time(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site other = site_open("a", "a2");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&other, NULL), RC_CONFLICT);
    assert_rc(site_renew(&a, NULL), RC_OK);
    silence("a1");
    assert_rc(site_renew(&other, NULL), RC_OK);
    assert_rc(site_renew(&a, NULL), RC_DEPOSED);
    site_close(&a);
    site_close(&other);
}

static void who_leaves_leaves_nothing(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct cluster_view view;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(a.member->ops->leave(a.member, &a.me, &a.err), RC_OK);
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&b, &view), RC_OK);
    assert_int_equal(view.node_count, 1);
    assert_str(view.partitions[0].owner, STR(""));
    assert_str(view.partitions[0].former, STR("a1"));
    site_close(&a);
    site_close(&b);
}

static void nodes_that_own_something_are_not_forgotten(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&a, 1);
    silence("a1");
    silence("b1");
    assert_rc(a.member->ops->forget(a.member, LEASE_MS, &a.err), RC_OK);
    assert_int_equal(ask("SELECT count(*) FROM belfry.node"), 1);
    site_close(&a);
    site_close(&b);
}

static void a_change_of_settings_is_seen_by_all(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    struct cluster_view before;
    struct cluster_view after;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(site_renew(&b, &before), RC_OK);
    struct queue_rec queue = {.name = STR("mail"), .concurrency = 3};
    struct delta delta = {.turn = 1, .queues = &queue, .queue_count = 1};
    assert_rc(a.store->ops->commit(a.store, &a.own, &delta, &a.err), RC_OK);
    assert_rc(site_renew(&b, &after), RC_OK);
    assert_true(after.settings_version > before.settings_version);
    site_close(&a);
    site_close(&b);
}

/* Stops the backend of the site's turns; the member's is closed, so that there is no other. */
static pid_t stop_backend(struct site *s)
{
    s->member->ops->close(s->member);
    assert_rc(site_commit(s, 1, 100), RC_OK);
    pid_t backend = (pid_t)ask("SELECT min(pid) FROM pg_stat_activity "
                               "WHERE application_name = 'belfry' AND query LIKE '%COMMIT%'");
    assert_true(backend > 1);
    assert_int_equal(kill(backend, SIGSTOP), 0);
    return backend;
}

/* It reads all that was sent, and then the end. */
static void let_go_on(struct site *s, pid_t backend)
{
    char gone[128];
    assert_int_equal(kill(backend, SIGCONT), 0);
    snprintf(gone, sizeof gone, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d",
             (int)backend);
    while (ask(gone) > 0)
        continue;
    if (s->member == NULL)
        assert_rc(s->store->ops->member(s->store, &s->member, &s->err), RC_OK);
}

/* Its words lie in the socket of a backend that was stopped: when it goes on, it must fail. */
static void a_commit_that_comes_late_finds_its_place_taken(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    enum settled settled;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = stop_backend(&a);
    a.member = NULL;
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_rc(a.store->ops->settle(a.store, &a.own, 2, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    let_go_on(&a, backend);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    assert_rc(site_commit(&a, 2, 101), RC_OK);
    site_close(&a);
}

/* However many commits come between: the marks of those are folded away, the one in its way is not. */
static void a_commit_that_comes_very_late_finds_its_place_taken(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    enum settled settled;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = stop_backend(&a);
    a.member = NULL;
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_rc(a.store->ops->settle(a.store, &a.own, 2, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    for (uint64_t turn = 2; turn < 602; turn++)
        assert_rc(site_commit(&a, turn, 200 + turn), RC_OK);
    let_go_on(&a, backend);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    site_close(&a);
}

static void load_nothing(struct site *s)
{
    const struct load_sink sink = {0};
    assert_rc(s->store->ops->load(s->store, &s->own, T0, &sink, &s->err), RC_OK);
}

/* What is owned has changed before anybody could settle, so the load does. Others come and go meanwhile, and
 * forget what is of no use: the mark is, as long as the epoch lives that the commit was sent under. */
static void a_load_settles_under_the_epoch_of_then(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 2);
    pid_t backend = stop_backend(&a);
    assert_rc(a.store->ops->member(a.store, &a.member, &a.err), RC_OK);
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    site_take(&a, 1); /* a lower one */
    load_nothing(&a);
    assert_rc(a.member->ops->release(a.member, 1, &a.own, &a.err), RC_OK);
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 1);
    let_go_on(&a, backend);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    site_close(&a);
    site_close(&b);
}

/* Everything was given back when the doubt is settled: then nothing is owned under any epoch. */
static void a_mark_outlives_a_release(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 2);
    pid_t backend = stop_backend(&a);
    assert_rc(a.store->ops->member(a.store, &a.member, &a.err), RC_OK);
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_rc(a.member->ops->release(a.member, 2, &a.own, &a.err), RC_OK);
    load_nothing(&a);
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 1);
    let_go_on(&a, backend);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker WHERE id = 101"), 0);
    site_close(&a);
    site_close(&b);
}

static void what_was_called_lost_cannot_be_committed_any_more(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    enum settled settled;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    struct exec_change nobody = {.kind = CHANGE_UPDATE, .exec = {.id = 99}};
    struct delta delta = {.turn = 3, .execs = &nobody, .exec_count = 1};
    assert_rc(a.store->ops->commit(a.store, &a.own, &delta, &a.err), RC_CONFLICT);
    assert_rc(a.store->ops->settle(a.store, &a.own, 3, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    assert_int_equal(ask("SELECT count(*) FROM belfry.turn WHERE turn = 3 AND NOT kept"), 1);
    /* The same number may be tried again, and is then found. */
    assert_rc(site_commit(&a, 3, 100), RC_OK);
    assert_rc(a.store->ops->settle(a.store, &a.own, 3, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_KEPT);
    site_close(&a);
}

static void a_lost_connection_between_two_turns_is_made_again(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(site_commit(&a, 1, 100), RC_OK);
    ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'belfry'");
    while (ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'belfry'") > 0)
        continue;
    assert_rc(site_commit(&a, 2, 101), RC_OK); /* and nothing is in doubt */
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_close(&a);
}

static void a_connection_lost_within_a_turn_loses_the_turn(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 7}};
    struct question *asked = &q;
    assert_rc(a.store->ops->admit(a.store, &a.own, &asked, 1, &a.arena, &a.err), RC_OK);
    ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'belfry'");
    enum rc rc = site_commit(&a, 1, 100);
    if (rc == RC_UNKNOWN) { /* it was not noticed in time */
        enum settled settled;
        assert_rc(a.store->ops->settle(a.store, &a.own, 1, &settled, &a.err), RC_OK);
        assert_int_equal(settled, SETTLED_LOST);
    } else {
        assert_rc(rc, RC_BUSY);
    }
    assert_int_equal(ask("SELECT count(*) FROM belfry.claim WHERE key = 'nightly'"), 0);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker"), 0);
    assert_rc(site_commit(&a, 2, 101), RC_OK);
    site_close(&a);
}

#define KEY "00112233445566778899aabbccddeeff"

/* Takes KEY for 7 and ends, in this way, when somebody waits for it. */
static PGconn *take_until_asked_for(const char *end)
{
    char sql[512];
    PGconn *conn = PQconnectdb(cluster_url(cluster));
    snprintf(sql, sizeof sql,
             "BEGIN; INSERT INTO belfry.request VALUES (7, 5000, '" KEY "', 'theirs');"
             "DO $$BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted) LOOP "
             "PERFORM pg_sleep(0.01); END LOOP; END$$; %s",
             end);
    assert_true(PQsendQuery(conn, sql));
    while (ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 0) {
    }
    return conn;
}

/* Asks for KEY among others, for 8; tells who has it. */
static uint64_t take_many(struct site *s, size_t count)
{
    struct question *all = ARENA_ARRAY(&s->arena, struct question, count);
    struct question **asked = ARENA_ARRAY(&s->arena, struct question *, count);
    for (size_t i = 0; i < count; i++) {
        all[i] = (struct question){
            .kind = ASK_CLAIM,
            .now_ms = 1000,
            .claim = {.kind = CLAIM_REQUEST,
                      .key = i == 0 ? STR(KEY) : arena_printf(&s->arena, "%032zx", i),
                      .holder = 8,
                      .until_ms = 5000,
                      .note = STR("ours")}};
        asked[i] = &all[i];
    }
    assert_rc(s->store->ops->admit(s->store, &s->own, asked, count, &s->arena, &s->err), RC_OK);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(all[i].answer.holder, 8);
    s->store->ops->abort(s->store);
    return all[0].answer.holder;
}

static void of_two_that_take_a_key_at_one_moment_the_second_is_told(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 100};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct site a = site_open("a", "a1"); /* a new one hopes that keys are free */
        assert_rc(site_renew(&a, NULL), RC_OK);
        site_take(&a, 15);
        cluster_sql(cluster, "DELETE FROM belfry.request");
        PGconn *other = take_until_asked_for("ROLLBACK");
        assert_int_equal(take_many(&a, counts[i]), 8);
        PQfinish(other);
        other = take_until_asked_for("COMMIT");
        assert_int_equal(take_many(&a, counts[i]), 7);
        PQfinish(other);
        assert_int_equal(take_many(&a, counts[i]), 7);
        assert_int_equal(ask("SELECT count(*) FROM belfry.request"), 1);
        site_close(&a);
    }
}

static void old_marks_go_with_their_epochs(void **state)
{
    (void)state;
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    for (uint64_t turn = 1; turn <= 600; turn++)
        assert_rc(site_commit(&a, turn, turn), RC_OK);
    assert_true(ask("SELECT count(*) FROM belfry.turn") < 300);
    struct site b = site_open("b", "b1");
    silence("a1");
    site_take(&b, 15);
    assert_int_equal(b.own.turn_floor, 600);
    assert_int_equal(ask("SELECT count(*) FROM belfry.turn"), 1); /* the newest */
    assert_rc(b.member->ops->forget(b.member, 0, &b.err), RC_OK);
    assert_int_equal(ask("SELECT count(*) FROM belfry.turn"), 0); /* a has no row any more */
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
    cluster_sql(cluster, sql);
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

static void who_knows_more_than_the_database_may_not_go_on(void **state)
{
    (void)state;
    struct site a = site_with_turns("a", "a1", 10);
    struct cluster_view view;
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    go_back_to(7);
    assert_rc(site_commit(&a, 11, 111), RC_DEPOSED);
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_DEPOSED);
    assert_int_equal(ask("SELECT count(*) FROM belfry.worker WHERE id = 111"), 0);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 3);
    site_close(&a);
}

static void what_is_recovered_has_numbers_that_nobody_has_seen(void **state)
{
    (void)state;
    struct site a = site_with_turns("a", "a1", 10);
    struct ownership before = a.own;
    struct cluster_view old;
    struct cluster_view view;
    assert_rc(site_renew(&a, &old), RC_OK);
    go_back_to(7);
    cluster_sql(cluster, "UPDATE belfry.partition SET owner = '', epoch = 0 WHERE id = 3");
    assert_rc(a.member->ops->recover(a.member, &a.me, &a.own, &a.err), RC_OK);
    assert_int_equal(ownership_set(&a.own).bits, 7); /* the fourth was taken in what is lost */
    for (size_t p = 0; p < 3; p++)
        assert_true(a.own.epochs[p] >= before.epochs[p] + (1 << 20));
    assert_true(ask("SELECT epoch FROM belfry.partition WHERE id = 3") > 1 << 20);
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
static void the_newest_mark_outlives_its_epoch(void **state)
{
    (void)state;
    struct site a = site_with_turns("a", "a1", 300);
    struct cluster_view view;
    assert_rc(a.member->ops->release(a.member, 15, &a.own, &a.err), RC_OK);
    struct site b = site_with_turns("b", "b1", 1);
    assert_rc(b.member->ops->forget(b.member, LEASE_MS, &b.err), RC_OK);
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    assert_rc(b.member->ops->release(b.member, 15, &b.own, &b.err), RC_OK);
    site_take(&a, 15);
    assert_rc(site_commit(&a, 301, 1000), RC_OK);
    site_close(&a);
    site_close(&b);
}

/* It deletes the marks of others, as it always did. */
static void beside_an_older_version_no_mark_is_asked_for(void **state)
{
    (void)state;
    struct site a = site_with_turns("a", "a1", 10);
    struct cluster_view view;
    cluster_sql(cluster, "INSERT INTO belfry.node (name, start, address, version, draining, "
                         "clock_ms, started_ms, seen_ms) SELECT 'old', 'old1', address, version, "
                         "draining, clock_ms, started_ms, seen_ms FROM belfry.node");
    assert_rc(site_renew(&a, &view), RC_OK);
    cluster_sql(cluster, "DELETE FROM belfry.turn");
    assert_rc(site_renew(&a, &view), RC_OK);
    assert_int_equal(view.lost_turns, 0);
    assert_rc(site_commit(&a, 11, 111), RC_OK);
    cluster_sql(cluster, "DELETE FROM belfry.node WHERE name = 'old'; DELETE FROM belfry.turn");
    assert_rc(site_renew(&a, &view), RC_OK); /* from the next commit on it is, again */
    assert_int_equal(view.lost_turns, 0);
    assert_rc(site_commit(&a, 12, 112), RC_OK);
    assert_rc(site_commit(&a, 13, 113), RC_OK);
    go_back_to(12);
    assert_rc(site_commit(&a, 14, 114), RC_DEPOSED);
    site_close(&a);
}

/* The epoch is that of whoever had it until somebody takes it. */
static void what_was_given_back_takes_no_commit(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(servers_share_what_is_there, empty),
        cmocka_unit_test_setup(what_was_given_back_is_free_at_once, empty),
        cmocka_unit_test_setup(a_silent_owner_is_deposed_and_its_numbers_are_known, empty),
        cmocka_unit_test_setup(a_turn_under_way_is_not_interrupted, empty),
        cmocka_unit_test_setup(a_name_belongs_to_one_server_at_a_time, empty),
        cmocka_unit_test_setup(who_leaves_leaves_nothing, empty),
        cmocka_unit_test_setup(nodes_that_own_something_are_not_forgotten, empty),
        cmocka_unit_test_setup(a_change_of_settings_is_seen_by_all, empty),
        cmocka_unit_test_setup(a_commit_that_comes_late_finds_its_place_taken, empty),
        cmocka_unit_test_setup(a_commit_that_comes_very_late_finds_its_place_taken, empty),
        cmocka_unit_test_setup(a_load_settles_under_the_epoch_of_then, empty),
        cmocka_unit_test_setup(a_mark_outlives_a_release, empty),
        cmocka_unit_test_setup(what_was_called_lost_cannot_be_committed_any_more, empty),
        cmocka_unit_test_setup(a_lost_connection_between_two_turns_is_made_again, empty),
        cmocka_unit_test_setup(a_connection_lost_within_a_turn_loses_the_turn, empty),
        cmocka_unit_test_setup(of_two_that_take_a_key_at_one_moment_the_second_is_told, empty),
        cmocka_unit_test_setup(old_marks_go_with_their_epochs, empty),
        cmocka_unit_test_setup(who_knows_more_than_the_database_may_not_go_on, empty),
        cmocka_unit_test_setup(what_is_recovered_has_numbers_that_nobody_has_seen, empty),
        cmocka_unit_test_setup(the_newest_mark_outlives_its_epoch, empty),
        cmocka_unit_test_setup(beside_an_older_version_no_mark_is_asked_for, empty),
        cmocka_unit_test_setup(what_was_given_back_takes_no_commit, empty),
    };
    cluster = cluster_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_stop(cluster);
    return failed;
}
