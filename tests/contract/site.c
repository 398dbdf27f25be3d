#include "site.h"

#include <signal.h>
#include <stdio.h>

#include <libpq-fe.h>

struct cluster *site_cluster;

struct site site_open(const char *name, const char *start)
{
    struct site s = {.me = {.name = str_c(name),
                            .start = str_c(start),
                            .address = STR("http://127.0.0.1:1"),
                            .version = STR("0"),
                            .clock_ms = T0}};
    const struct postgres_options options = {
        .lease_ms = LEASE_MS, .partitions = 4, .answer_ms = 1000};
    assert_rc(store_postgres_open(cluster_url(site_cluster), &options, &s.store, &s.err), RC_OK);
    assert_rc(s.store->ops->member(s.store, &s.member, &s.err), RC_OK);
    return s;
}

void site_close(struct site *s)
{
    s->member->ops->close(s->member);
    s->store->ops->close(s->store);
    arena_free(&s->arena);
}

enum rc site_renew(struct site *s, struct cluster_view *ret_view)
{
    enum rc rc =
        s->member->ops->renew(s->member, &s->me, s->lapsed_ms, &s->arena, &s->seen, &s->err);
    if (ret_view != NULL)
        *ret_view = s->seen;
    return rc;
}

void site_take(struct site *s, uint64_t wanted)
{
    assert_rc(s->member->ops->take(s->member, &s->me, wanted, &s->seen, &s->own, &s->err), RC_OK);
}

enum rc site_commit(struct site *s, uint64_t turn, uint64_t id)
{
    struct worker_change worker = {.worker = {.id = id}};
    struct delta delta = {.turn = turn, .workers = &worker, .worker_count = 1};
    enum rc rc = s->store->ops->commit(s->store, &s->own, &delta, &s->err);
    if (rc != RC_OK)
        print_message("%s\n", s->err.text);
    return rc;
}

int64_t site_ask(const char *sql)
{
    PGconn *conn = PQconnectdb(cluster_url(site_cluster));
    PGresult *result = PQexec(conn, sql);
    int64_t value = INT64_MIN;
    assert_true(PQntuples(result) == 1 && str_to_i64(str_c(PQgetvalue(result, 0, 0)), &value));
    PQclear(result);
    PQfinish(conn);
    return value;
}

int site_empty(void **state)
{
    (void)state;
    struct site s = site_open("setup", "setup");
    site_close(&s);
    cluster_sql(site_cluster, "DELETE FROM belfry.node; DELETE FROM belfry.turn; "
                              "DELETE FROM belfry.worker; DELETE FROM belfry.queue; "
                              "DELETE FROM belfry.counter; DELETE FROM belfry.counter_delta; "
                              "UPDATE belfry.partition SET epoch = 0, owner = '', former = '', "
                              "since_ms = 0, turn = 0, newest_id = 0, drift_ms = 0");
    return 0;
}

pid_t site_stop_backend(struct site *s)
{
    s->member->ops->close(s->member);
    assert_rc(site_commit(s, 1, 100), RC_OK);
    pid_t backend = (pid_t)site_ask("SELECT min(pid) FROM pg_stat_activity "
                                    "WHERE application_name = 'belfry' AND query LIKE '%COMMIT%'");
    assert_true(backend > 1);
    assert_int_equal(kill(backend, SIGSTOP), 0);
    return backend;
}

void site_let_go_on(struct site *s, pid_t backend)
{
    char gone[128];
    assert_int_equal(kill(backend, SIGCONT), 0);
    snprintf(gone, sizeof gone, "SELECT count(*) FROM pg_stat_activity WHERE pid = %d",
             (int)backend);
    while (site_ask(gone) > 0)
        continue;
    if (s->member == NULL)
        assert_rc(s->store->ops->member(s->store, &s->member, &s->err), RC_OK);
}
