/* How PostgreSQL would run each statement of a turn, and of reading, while tables are tiny: always by keys. A
 * plan that walks an index from end to end is quick while there is nothing in it, and also walks the dead rows
 * that a transaction held open keeps there: the plan was made once, and they became many. */
#include "cluster.h"
#include "store/postgres/statements.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

static struct cluster *cluster;
static struct arena arena;

/* ---- a connection as a server's are */

static PGresult *ask(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    return result;
}

static void tell(PGconn *conn, const char *sql)
{
    PQclear(ask(conn, sql));
}

static const char *text_of(enum query query)
{
    return statement_text(&postgres_statements[query], &arena).ptr;
}

static PGconn *connect_plainly(void)
{
    PGconn *conn = PQconnectdb(cluster_url(cluster));
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    return conn;
}

static PGconn *connect_as_server(void)
{
    PGconn *conn = connect_plainly();
    tell(conn, text_of(Q_SETUP));
    return conn;
}

/* ---- states of the tables */

/* Three rows of anything, in every table that takes them. */
static const char fill[] =
    "DO $$ DECLARE t record; names text; vals text; n integer; BEGIN"
    " FOR t IN SELECT oid, relname FROM pg_class WHERE relnamespace = 'belfry'::regnamespace"
    "   AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ('meta', 'partition')"
    " LOOP FOR n IN 1..3 LOOP"
    "   SELECT string_agg(quote_ident(attname), ', '), string_agg(CASE"
    "     WHEN format_type(atttypid, NULL) LIKE '%[]' THEN '''{}'''"
    "     WHEN atttypid = 'boolean'::regtype THEN 'true'"
    "     WHEN atttypid = 'uuid'::regtype THEN quote_literal(lpad(n::text, 32, '0'))"
    "     WHEN atttypid = 'xid8'::regtype THEN quote_literal(n)"
    "     ELSE quote_literal(n) END, ', ') INTO names, vals"
    "   FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped"
    "     AND attidentity = '' AND attgenerated = '';"
    "   BEGIN EXECUTE format('INSERT INTO belfry.%I (%s) VALUES (%s)', t.relname, names, vals);"
    "   EXCEPTION WHEN check_violation THEN NULL; END;"
    " END LOOP; END LOOP; END $$";

static void empty_tables(void)
{
    cluster_sql(cluster, "VACUUM ANALYZE");
}

static void tiny_tables(void)
{
    cluster_sql(cluster, fill);
    cluster_sql(cluster, "VACUUM ANALYZE");
}

/* ---- plans */

/* What may be read from end to end. */
static const struct exception {
    enum query query; /* Q_COUNT: any */
    const char *table;
    const char *why;
} exceptions[] = {
    {Q_COUNT, "partition", "64 rows at most, which change as servers come and go"},
    {Q_COUNT, "old_week", "a row for each week that is going, and partition"},
    {Q_FIND_OLD_WEEKS, "pg_inherits", "the catalog, asked as the past is tidied"},
    {Q_FIND_OLD_WEEKS, "pg_class", "the same"},
    {Q_FIND_OLD_WEEKS, "dependency",
     "the rules that stand, by an index of these and of what waits"},
    {Q_FORGET_REJECTED, "rejected", "few are there, and one more came"},
    {Q_READ_CALENDARS, "calendar", "all are asked for"},
    {Q_READ_SILENCES, "alert_silence", "all are asked for"},
    {Q_READ_DRIFT, "turn", "the largest of all; asked for lists by time of creation alone"},
    {Q_FIND_COUNTERS, "counter_delta", "asked when somebody deletes a queue"},
    {Q_READ_COUNTERS, "counter", "all are added up"},
    {Q_READ_COUNTERS, "counter_delta", "the same"},
};

static bool is_excepted(enum query query, struct str table)
{
    for (size_t i = 0; i < COUNT_OF(exceptions); i++) {
        const struct exception *e = &exceptions[i];
        if ((e->query == query || e->query == Q_COUNT) && str_eq(str_c(e->table), table))
            return true;
    }
    return false;
}

/* The word behind another one; empty: it is not there. */
static struct str word_behind(const char *line, const char *mark)
{
    const char *at = strstr(line, mark);
    if (at == NULL)
        return STR("");
    at += strlen(mark);
    return str_of(at, strcspn(at, " "));
}

/* Which table this line of a plan walks whole; empty: none. A condition of an index stands right below. */
static struct str walked(const char *line, const char *below)
{
    struct str table = word_behind(line, "Seq Scan on ");
    bool by_index = strstr(line, "Index Scan ") != NULL || strstr(line, "Index Only Scan ") != NULL;
    if (table.len == 0 && by_index && strstr(below, "Index Cond:") == NULL)
        table = word_behind(line, " on ");
    return table;
}

/* Parameters of any value; of arrays, those that parts of a table are chosen by have one. */
static const char *arguments(PGconn *conn, const char *name)
{
    struct str sql = arena_printf(
        &arena,
        "SELECT coalesce('(' || string_agg(CASE WHEN t.typelem = 20 THEN '''{1}''' "
        "WHEN t.typcategory = 'A' THEN '''{}''' WHEN t.typcategory IN ('N', 'B') THEN '''1''' "
        "ELSE '''1:1:''' END, ', ' ORDER BY p.at) || ')', '') FROM pg_prepared_statements s "
        "CROSS JOIN unnest(s.parameter_types) WITH ORDINALITY p (type, at) "
        "JOIN pg_type t ON t.oid = p.type WHERE s.name = '%s'",
        name);
    PGresult *result = ask(conn, sql.ptr);
    const char *text = arena_zstr(&arena, str_c(PQgetvalue(result, 0, 0)));
    PQclear(result);
    return text;
}

static PGresult *explain(PGconn *conn, enum query query)
{
    const char *name = postgres_statements[query].name;
    PGresult *prepared = PQprepare(conn, name, text_of(query), 0, NULL);
    if (PQresultStatus(prepared) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", name, PQerrorMessage(conn));
    PQclear(prepared);
    struct str sql =
        arena_printf(&arena, "EXPLAIN (COSTS OFF) EXECUTE \"%s\"%s", name, arguments(conn, name));
    return ask(conn, sql.ptr);
}

static int count_walks(PGconn *conn, enum query query)
{
    PGresult *plan = explain(conn, query);
    int lines = PQntuples(plan);
    int count = 0;
    for (int i = 0; i < lines; i++) {
        const char *line = PQgetvalue(plan, i, 0);
        struct str table = walked(line, i + 1 < lines ? PQgetvalue(plan, i + 1, 0) : "");
        if (table.len == 0 || is_excepted(query, table))
            continue;
        print_error("%s: %s\n", postgres_statements[query].name, line);
        count++;
    }
    PQclear(plan);
    return count;
}

/* What turns use, and what readers ask: those of these files. */
static bool is_planned(enum query query)
{
    switch ((enum query_file)postgres_statements[query].file) {
    case Q_FILE_TURN:
    case Q_FILE_CLAIMS:
    case Q_FILE_ADMIT:
    case Q_FILE_INBOX:
    case Q_FILE_OLD:
    case Q_FILE_COMMIT:
    case Q_FILE_RECORD:
    case Q_FILE_FIND:
    case Q_FILE_READ:
    case Q_FILE_LETTERS:
    case Q_FILE_LIST: return true;
    default: return false;
    }
}

static void assert_by_keys(void)
{
    PGconn *conn = connect_as_server();
    int walks = 0;
    for (size_t i = 0; i < Q_COUNT; i++) {
        if (is_planned((enum query)i))
            walks += count_walks(conn, (enum query)i);
    }
    PQfinish(conn);
    assert_int_equal(walks, 0);
}

TEST(statements_go_by_keys_where_tables_are_empty)
{
    empty_tables();
    assert_by_keys();
}

TEST(statements_go_by_keys_where_tables_are_tiny)
{
    tiny_tables();
    assert_by_keys();
}

/* ---- mail */

/* All rows of a crowd, read since: the table's pages and those of its indexes are there. */
static const char crowd[] =
    "INSERT INTO belfry.inbox (bucket, kind, sent_ms, name, xid) "
    "SELECT n % 64, 1 + n % 5, 1, '', (20000 - n)::text::xid8 FROM generate_series(1, 20000) n";

/* A round of mail begins at the smallest id, so that a walk by ids is one over all that was ever read. */
static void assert_found_by_transactions(void)
{
    PGconn *conn = connect_as_server();
    PGresult *plan = explain(conn, Q_FIND_INBOX);
    int scans = 0;
    for (int i = 0; i + 1 < PQntuples(plan); i++) {
        if (strstr(PQgetvalue(plan, i, 0), "Scan using ") == NULL)
            continue;
        const char *condition = PQgetvalue(plan, i + 1, 0);
        bool by_transaction = strstr(condition, "Index Cond: (xid ") != NULL;
        if (!by_transaction && strstr(condition, "Index Cond: (id = ") == NULL)
            fail_msg("%s: %s", PQgetvalue(plan, i, 0), condition);
        scans += by_transaction;
    }
    PQclear(plan);
    PQfinish(conn);
    assert_int_equal(scans, 3);
}

TEST(mail_is_found_by_its_transactions_however_many_came_before)
{
    assert_found_by_transactions();
    cluster_sql(cluster, crowd);
    cluster_sql(cluster, "ANALYZE belfry.inbox");
    assert_found_by_transactions();
    cluster_sql(cluster, "DELETE FROM belfry.inbox WHERE sent_ms = 1");
    cluster_sql(cluster, "ANALYZE belfry.inbox");
    assert_found_by_transactions();
}

/* ---- rows that several servers write */

/* Releases of PostgreSQL before November 2025 do not compare the ctid again when another server has changed the
 * row meanwhile, only what is asked for besides: without that, they would change what the other one has made
 * of it. */
static void assert_looks_again(PGconn *conn, enum query query, const char *column)
{
    PGresult *plan = explain(conn, query);
    bool found = false;
    for (int i = 0; i < PQntuples(plan); i++) {
        const char *line = PQgetvalue(plan, i, 0);
        found |= strstr(line, "Filter: ") != NULL && strstr(line, column) != NULL;
    }
    PQclear(plan);
    tell(conn, "DEALLOCATE ALL");
    if (!found)
        fail_msg("%s does not ask for %s beside the ctid", postgres_statements[query].name, column);
}

TEST(rows_that_others_change_are_looked_at_again)
{
    PGconn *conn = connect_as_server();
    assert_looks_again(conn, Q_TAKE_ENDED_REQUESTS, "r.until_ms");
    assert_looks_again(conn, Q_RELEASE_CLAIMS, "c.holder");
    assert_looks_again(conn, Q_RELEASE_REQUESTS, "r.holder");
    PQfinish(conn);
}

/* The sums: what is below the scan by ctid has the name of the column alone. */
TEST(sums_that_others_add_to_are_looked_at_again)
{
    PGconn *conn = connect_as_server();
    PGresult *plan = explain(conn, Q_FORGET_DAYS);
    int scans = 0;
    for (int i = 0; i + 2 < PQntuples(plan); i++) {
        if (strstr(PQgetvalue(plan, i, 0), "Tid Scan on ") == NULL)
            continue;
        assert_non_null(strstr(PQgetvalue(plan, i + 2, 0), "Filter: (count <= 0)"));
        scans++;
    }
    assert_int_equal(scans, 2);
    PQclear(plan);
    PQfinish(conn);
}

/* ---- the version before */

static void assert_answer(PGconn *conn, const char *sql, const char *expected)
{
    PGresult *result = ask(conn, sql);
    assert_string_equal(PQgetvalue(result, 0, 0), expected);
    PQclear(result);
}

/* A server that was started before the migration goes on with the plans it has, and reads columns by place: a
 * view that it asks for all of its columns keeps them as they are. New ones get a view of their own. */
TEST(views_of_the_version_before_are_as_they_were)
{
    static const char columns[] =
        "SELECT md5(string_agg(attname || ' ' || format_type(atttypid, atttypmod), ',' ORDER BY attnum)) "
        "FROM pg_attribute WHERE attnum > 0 AND attrelid = 'belfry.%s'::regclass";
    static const struct {
        const char *view;
        const char *hash;
    } views[] = {
        {"live_row", "ab98aa1f6389b5532f63fb8c61a2b0aa"},
        {"history_row", "ab98aa1f6389b5532f63fb8c61a2b0aa"},
        {"job_kept", "4fe8efbdbd63c025c1edc5a24b38679b"},
        {"job_full", "e0283c1d4a16c1eff86ebbd19d3a1bde"},
        {"job_row", "4fe8efbdbd63c025c1edc5a24b38679b"},
        {"attempt_row", "41db5384ee9fbc43a89f2810aa616a3e"},
        {"letter_row", "e901afefbc1b19b67f862ddc401a6d2f"},
        {"counter_row", "3078a2944781f8b5ea3fba318cc72314"},
        {"tally_row", "a34106a01e9c2a95ebfb0f00cee02ca3"},
    };
    PGconn *conn = connect_plainly();
    for (size_t i = 0; i < COUNT_OF(views); i++)
        assert_answer(conn, arena_printf(&arena, columns, views[i].view).ptr, views[i].hash);
    PQfinish(conn);
}

/* ---- settings */

static void assert_setting(PGconn *conn, const char *name, const char *value)
{
    PGresult *result = ask(conn, arena_printf(&arena, "SHOW %s", name).ptr);
    assert_string_equal(PQgetvalue(result, 0, 0), value);
    PQclear(result);
}

TEST(our_connections_use_no_parallel_workers)
{
    PGconn *conn = connect_as_server();
    assert_setting(conn, "max_parallel_workers_per_gather", "0");
    PQfinish(conn);
    conn = connect_plainly();
    tell(conn, "BEGIN");
    tell(conn, text_of(Q_SETUP_LOCAL));
    assert_setting(conn, "max_parallel_workers_per_gather", "0");
    tell(conn, "COMMIT");
    assert_setting(conn, "max_parallel_workers_per_gather", "2"); /* as before */
    PQfinish(conn);
}

static int begin(void **state)
{
    (void)state;
    struct store *store;
    struct err err;
    cluster = cluster_start();
    if (store_postgres_open(cluster_url(cluster), &(struct postgres_options){0}, &store, &err) !=
        RC_OK) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    store->ops->close(store);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cluster_stop(cluster);
    arena_free(&arena);
    return 0;
}

TEST_GROUP(begin, end)
