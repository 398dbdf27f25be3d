/* The promises, on PostgreSQL: a server of their own, started here. */
#include "cluster.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

static struct cluster *cluster;

static struct store *open_url(int64_t lease_ms)
{
    const struct postgres_options options = {.lease_ms = lease_ms};
    struct store *store;
    struct err err;
    enum rc rc = store_postgres_open(cluster_url(cluster), &options, &store, &err);
    if (rc != RC_OK)
        print_error("%s\n", err.text);
    assert_rc(rc, RC_OK);
    return store;
}

/* An empty store: quicker than a new schema, which has a hundred tables and indexes. */
static const char empty[] =
    "DO $$ DECLARE t text; BEGIN"
    "  FOR t IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'belfry'::regnamespace"
    "    AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    "    AND c.relname NOT IN ('meta', 'partition')"
    "  LOOP EXECUTE format('DELETE FROM belfry.%I', t); END LOOP;"
    "  UPDATE belfry.partition SET epoch = 0, owner = '', former = '', since_ms = 0, turn = 0,"
    "    newest_id = 0, drift_ms = 0, settled = 0;"
    " END $$";

/* A lease of 0: most stories are of one server, which takes over from itself. */
static struct store *open_postgres(void **ret_place)
{
    struct store *store = open_url(0);
    *ret_place = NULL;
    cluster_sql(cluster, empty);
    return store;
}

static struct store *reopen_postgres(void *place, struct store *store)
{
    (void)place;
    store->ops->close(store);
    return open_url(0);
}

static void destroy_postgres(void *place, struct store *store)
{
    (void)place;
    store->ops->close(store);
}

static struct store *another_postgres(void *place)
{
    (void)place;
    return open_url(60000);
}

/* Time passes by having been longer ago. */
static void pass_postgres(void *place, int64_t by_ms)
{
    char sql[256];
    (void)place;
    snprintf(sql, sizeof sql, "UPDATE belfry.node SET seen_ms = seen_ms - %" PRId64, by_ms);
    cluster_sql(cluster, sql);
}

int main(void)
{
    const struct candidate candidate = {"postgres",       open_postgres,    reopen_postgres,
                                        destroy_postgres, another_postgres, pass_postgres};
    cluster = cluster_start();
    int failed = promises_run(&candidate);
    cluster_stop(cluster);
    return failed;
}
