/* Several servers on one PostgreSQL: who may decide, and what nobody can undo. */
#include "base/embed.h"
#include "site.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libpq-fe.h>

extern const struct embedded postgres_migrations[];

TEST(servers_share_what_is_there, site_empty)
{
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

TEST(what_was_given_back_is_free_at_once, site_empty)
{
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

TEST(a_silent_owner_is_deposed_and_its_numbers_are_known, site_empty)
{
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(site_commit(&a, 7, 5000), RC_OK);
    site_take(&b, 15);
    assert_int_equal(ownership_set(&b.own).bits, 0);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 1); /* one is enough to stop it */
    assert_int_equal(ownership_set(&b.own).bits, 1);
    assert_int_equal(b.own.id_floor, 5000);
    assert_int_equal(b.own.turn_floor, 7);
    assert_rc(site_commit(&a, 8, 5001), RC_DEPOSED);
    enum settled settled;
    assert_rc(a.store->ops->settle(a.store, &a.own, 8, &settled, &a.err), RC_DEPOSED);
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_DEPOSED);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker WHERE id = 5001"), 0);
    site_close(&a);
    site_close(&b);
}

/* Who takes over while a turn is under way waits for its end, or leaves it alone. */
TEST(a_turn_under_way_is_not_interrupted, site_empty)
{
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(site_renew(&b, NULL), RC_OK);
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

/* A job that another server accepts meanwhile locks the row, too, and waits. */
TEST(a_calendar_is_locked_from_the_question_until_it_is_deleted, site_empty)
{
    static const char free_rows[] =
        "SELECT count(*) FROM (SELECT 1 FROM belfry.calendar WHERE name = 'holidays' "
        "FOR KEY SHARE SKIP LOCKED) free";
    struct site a = site_open("a", "a1");
    struct question q = {.kind = ASK_CALENDAR, .name = STR("holidays"), .limit = 9};
    struct question *asked[] = {&q};
    struct calendar_change put = {.calendar = {.name = STR("holidays"), .version = 1}};
    struct delta delta = {.turn = 1, .calendars = &put, .calendar_count = 1};
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(a.store->ops->admit(a.store, &a.own, NULL, 0, &a.arena, &a.err), RC_OK);
    assert_rc(a.store->ops->commit(a.store, &a.own, &delta, &a.err), RC_OK);
    assert_int_equal(site_ask(free_rows), 1);
    assert_rc(a.store->ops->admit(a.store, &a.own, asked, 1, &a.arena, &a.err), RC_OK);
    assert_int_equal(site_ask(free_rows), 0);
    a.store->ops->abort(a.store);
    assert_int_equal(site_ask(free_rows), 1);
    site_close(&a);
}

TEST(a_name_belongs_to_one_server_at_a_time, site_empty)
{
    struct site a = site_open("a", "a1");
    struct site other = site_open("a", "a2");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&other, NULL), RC_CONFLICT);
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&other, NULL), RC_CONFLICT);
    other.lapsed_ms = other.seen.nodes[0].seen_ms;
    assert_rc(site_renew(&other, NULL), RC_OK);
    assert_rc(site_renew(&a, NULL), RC_DEPOSED);
    site_close(&a);
    site_close(&other);
}

TEST(who_leaves_leaves_nothing, site_empty)
{
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

TEST(nodes_that_own_something_are_not_forgotten, site_empty)
{
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&a, 1);
    assert_rc(site_renew(&b, NULL), RC_OK);
    assert_rc(a.member->ops->forget(a.member, b.seen.nodes, b.seen.node_count, &a.err), RC_OK);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.node"), 1);
    site_close(&a);
    site_close(&b);
}

TEST(a_change_of_settings_is_seen_by_all, site_empty)
{
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

/* ---- a database that does not answer */

static bool count_call(void *arg)
{
    ++*(int *)arg;
    return true;
}

static bool count_two_calls(void *arg)
{
    return ++*(int *)arg < 2;
}

static void end_stopped(struct site *a, pid_t backend)
{
    assert_int_equal(kill(backend, SIGCONT), 0);
    assert_rc(a->store->ops->member(a->store, &a->member, &a->err), RC_OK);
    site_close(a);
}

TEST(who_waits_for_a_commit_is_told_and_commits_are_waited_for, site_empty)
{
    struct site a = site_open("a", "a1");
    enum settled settled;
    int calls = 0;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = site_stop_backend(&a);
    a.store->patience =
        (struct store_patience){.ask_ms = 100, .on_wait = count_call, .arg = &calls};
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_in_range(calls, 5, 10); /* in a second, every 100 ms */
    enum rc rc;
    do /* another connection is made aside: until there is one the store is busy */
        rc = a.store->ops->settle(a.store, &a.own, 2, &settled, &a.err);
    while (rc == RC_BUSY);
    assert_rc(rc, RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    end_stopped(&a, backend);
}

TEST(who_has_no_time_for_a_commit_leaves_it_in_doubt, site_empty)
{
    struct site a = site_open("a", "a1");
    enum settled settled;
    int calls = 0;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = site_stop_backend(&a);
    a.store->patience =
        (struct store_patience){.ask_ms = 100, .on_wait = count_two_calls, .arg = &calls};
    assert_rc(site_commit(&a, 2, 101), RC_UNKNOWN);
    assert_int_equal(calls, 2);
    a.store->patience = (struct store_patience){0};
    assert_rc(a.store->ops->settle(a.store, &a.own, 2, &settled, &a.err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    end_stopped(&a, backend);
}

TEST(questions_are_given_up_soon_and_leave_nothing_in_doubt, site_empty)
{
    struct site a = site_open("a", "a1");
    int calls = 0;
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    pid_t backend = site_stop_backend(&a);
    a.store->patience =
        (struct store_patience){.ask_ms = 300, .on_wait = count_call, .arg = &calls};
    struct question question = {.kind = ASK_JOB, .id = 7};
    struct question *questions[] = {&question};
    assert_rc(a.store->ops->admit(a.store, &a.own, questions, 1, &a.arena, &a.err), RC_BUSY);
    assert_int_equal(calls, 0); /* the turn is in the middle of something */
    a.store->ops->abort(a.store);
    enum rc rc;
    do
        rc = site_commit(&a, 2, 101);
    while (rc == RC_BUSY);
    assert_rc(rc, RC_OK);
    end_stopped(&a, backend);
}

TEST(a_lost_connection_between_two_turns_is_made_again, site_empty)
{
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    assert_rc(site_commit(&a, 1, 100), RC_OK);
    site_ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
             "WHERE application_name = 'belfry'");
    while (site_ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'belfry'") > 0)
        continue;
    assert_rc(site_commit(&a, 2, 101), RC_OK); /* and nothing is in doubt */
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_close(&a);
}

TEST(a_connection_lost_within_a_turn_loses_the_turn, site_empty)
{
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 7}};
    struct question *asked = &q;
    assert_rc(a.store->ops->admit(a.store, &a.own, &asked, 1, &a.arena, &a.err), RC_OK);
    site_ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
             "WHERE application_name = 'belfry'");
    enum rc rc = site_commit(&a, 1, 100);
    if (rc == RC_UNKNOWN) { /* it was not noticed in time */
        enum settled settled;
        assert_rc(a.store->ops->settle(a.store, &a.own, 1, &settled, &a.err), RC_OK);
        assert_int_equal(settled, SETTLED_LOST);
    } else {
        assert_rc(rc, RC_BUSY);
    }
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.claim WHERE key = 'nightly'"), 0);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.worker"), 0);
    assert_rc(site_commit(&a, 2, 101), RC_OK);
    site_close(&a);
}

#define KEY "00112233445566778899aabbccddeeff"

/* Takes KEY for 7 and ends, in this way, when somebody waits for it. */
static PGconn *take_until_asked_for(const char *end)
{
    char sql[512];
    PGconn *conn = PQconnectdb(cluster_url(site_cluster));
    snprintf(sql, sizeof sql,
             "BEGIN; INSERT INTO belfry.request VALUES (7, 5000, '" KEY "', 'theirs');"
             "DO $$BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted) LOOP "
             "PERFORM pg_sleep(0.01); END LOOP; END$$; %s",
             end);
    assert_true(PQsendQuery(conn, sql));
    while (site_ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 0) {
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

TEST(of_two_that_take_a_key_at_one_moment_the_second_is_told, site_empty)
{
    static const size_t counts[] = {1, 100};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct site a = site_open("a", "a1"); /* a new one hopes that keys are free */
        assert_rc(site_renew(&a, NULL), RC_OK);
        site_take(&a, 15);
        cluster_sql(site_cluster, "DELETE FROM belfry.request");
        PGconn *other = take_until_asked_for("ROLLBACK");
        assert_int_equal(take_many(&a, counts[i]), 8);
        PQfinish(other);
        other = take_until_asked_for("COMMIT");
        assert_int_equal(take_many(&a, counts[i]), 7);
        PQfinish(other);
        assert_int_equal(take_many(&a, counts[i]), 7);
        assert_int_equal(site_ask("SELECT count(*) FROM belfry.request"), 1);
        site_close(&a);
    }
}

/* ---- sums */

static void site_count(struct site *s, uint64_t turn)
{
    uint32_t lowest = (uint32_t)__builtin_ctzll(ownership_set(&s->own).bits);
    struct counter counter = {COUNTER_JOBS, STR("default"), JOB_ACTIVE, 1, lowest};
    struct delta delta = {.turn = turn, .counters = &counter, .counter_count = 1};
    assert_rc(s->store->ops->commit(s->store, &s->own, &delta, &s->err), RC_OK);
}

/* Its turns have smaller numbers than those that the new owner has folded long ago. */
TEST(what_a_former_owner_left_is_folded, site_empty)
{
    struct site a = site_open("a", "a1");
    struct site b = site_open("b", "b1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&a, 3);
    site_take(&b, 12);
    for (uint64_t turn = 1; turn <= 3; turn++)
        site_count(&a, turn);
    for (uint64_t turn = 1; turn <= 300; turn++)
        site_count(&b, turn);
    assert_true(site_ask("SELECT sum(value) FROM belfry.counter WHERE partition = 2") > 200);
    assert_rc(site_renew(&b, NULL), RC_OK);
    site_take(&b, 15);
    for (uint64_t turn = 301; turn <= 600; turn++)
        site_count(&b, turn);
    assert_int_equal(site_ask("SELECT count(*) FROM belfry.counter_delta WHERE turn <= 300"), 0);
    assert_int_equal(site_ask("SELECT sum(value) FROM belfry.counter_row"), 603);
    site_close(&a);
    site_close(&b);
}

/* ---- the inbox */

static int64_t rows_met(void)
{
    return site_ask("SELECT coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables "
                    "WHERE relid = 'belfry.inbox'::regclass");
}

/* Each is met a few times, and not once for each page. The database has the numbers of a connection that ended. */
TEST(pages_of_a_full_inbox_do_not_look_at_all_of_it, site_empty)
{
    enum { ROWS = 3000, PAGE = 50 };
    struct site a = site_open("a", "a1");
    assert_rc(site_renew(&a, NULL), RC_OK);
    site_take(&a, 15);
    cluster_sql(site_cluster,
                "INSERT INTO belfry.inbox (bucket, kind, sent_ms, name) SELECT n % 1024, 1, 0, '' "
                "FROM generate_series(1, 3000) n; ANALYZE belfry.inbox");
    int64_t before = rows_met();
    size_t told = 0;
    struct question q = {.kind = ASK_INBOX, .limit = PAGE, .submissions = true};
    do {
        struct question *questions[] = {&q};
        assert_rc(a.store->ops->admit(a.store, &a.own, questions, 1, &a.arena, &a.err), RC_OK);
        told += q.answer.mail_count;
        q.from = INBOX_AGAIN;
        q.after_id = q.answer.after_id;
        a.store->ops->abort(a.store);
    } while (q.answer.more);
    assert_int_equal(told, ROWS);
    site_close(&a);
    while (site_ask("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
                    "AND pid <> pg_backend_pid()") > 0 ||
           rows_met() - before < ROWS)
        usleep(10000);
    assert_true(rows_met() - before < (int64_t)10 * ROWS);
}

/* ---- migrating */

struct migration {
    enum rc rc;
    atomic_bool done;
};

static void *migrate(void *arg)
{
    struct migration *m = arg;
    struct migrated migrated;
    struct err err;
    m->rc = store_postgres_migrate(cluster_url(site_cluster), 4, NULL, &migrated, &err);
    if (m->rc != RC_OK)
        print_message("%s\n", err.text);
    atomic_store(&m->done, true);
    return NULL;
}

/* Whoever comes second waits behind the lock of the first, for longer than the role's time-outs. These are long
 * enough for all else, and the first connection does not have them. */
TEST(a_migration_takes_its_time, site_empty)
{
    static const char waits[] = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND "
                                "clock_timestamp() - query_start > interval '4s'";
    struct migration m = {0};
    pthread_t thread;
    PGconn *first = PQconnectdb(cluster_url(site_cluster));
    PQclear(PQexec(first, "SELECT pg_advisory_lock(7163384699220917);"
                          "ALTER ROLE postgres SET statement_timeout = '3s';"
                          "ALTER ROLE postgres SET lock_timeout = '3s'"));
    assert_int_equal(pthread_create(&thread, NULL, migrate, &m), 0);
    for (int found = 0; found == 0 && !atomic_load(&m.done); usleep(10000)) {
        PGresult *result = PQexec(first, waits);
        found = PQntuples(result);
        PQclear(result);
    }
    PQclear(PQexec(first, "ALTER ROLE postgres RESET ALL"));
    PQfinish(first); /* which releases the lock */
    pthread_join(thread, NULL);
    assert_rc(m.rc, RC_OK);
}

/* The schema as it was before the migration that changes node, and then partition. */
static void make_ninth_version(PGconn *conn)
{
    enum { NINTH = 9 };
    PQclear(PQexec(conn, "DROP SCHEMA belfry CASCADE; CREATE SCHEMA belfry; CREATE TABLE "
                         "belfry.meta (key text PRIMARY KEY, value text NOT NULL); "
                         "INSERT INTO belfry.meta VALUES ('version', '9')"));
    for (size_t i = 0; i < NINTH; i++) {
        PGresult *result = PQexec(conn, postgres_migrations[i].text);
        if (PQresultStatus(result) == PGRES_FATAL_ERROR)
            fail_msg("%s: %s", postgres_migrations[i].name, PQerrorMessage(conn));
        PQclear(result);
    }
}

/* A server of the version before has read one table, and the migration has changed another; then each wants what
 * the other one has. The migration is the one that gives way. */
TEST(a_migration_that_was_in_a_deadlock_is_done_again)
{
    struct migration m = {0};
    pthread_t thread;
    PGconn *old = PQconnectdb(cluster_url(site_cluster));
    make_ninth_version(old);
    PQclear(PQexec(old, "ALTER ROLE postgres SET deadlock_timeout = '5s'; SET deadlock_timeout = "
                        "'60s'; BEGIN; SELECT FROM belfry.partition"));
    assert_int_equal(pthread_create(&thread, NULL, migrate, &m), 0);
    while (site_ask("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
        usleep(10000);
    PGresult *result = PQexec(old, "SELECT FROM belfry.node");
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    PQclear(PQexec(old, "COMMIT; ALTER ROLE postgres RESET ALL"));
    pthread_join(thread, NULL);
    assert_rc(m.rc, RC_OK);
    PQfinish(old);
}

/* Servers of versions before ask these for all of their columns, by place, and fail when there is one more. What
 * has more to tell gets views of its own. */
TEST(the_views_that_older_servers_ask_by_place_stay_as_they_are, site_empty)
{
    enum { COLUMNS = 31 };
    struct migration m = {0};
    migrate(&m);
    assert_rc(m.rc, RC_OK);
    assert_int_equal(site_ask("SELECT count(*) FROM pg_attribute WHERE attrelid = "
                              "'belfry.live_rec'::regclass AND attnum > 0"),
                     COLUMNS);
    assert_int_equal(site_ask("SELECT count(*) FROM pg_attribute WHERE attrelid = "
                              "'belfry.history_rec'::regclass AND attnum > 0"),
                     COLUMNS);
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
