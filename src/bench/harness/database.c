#include "bench/harness/database.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "loop/file.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    URL_BYTES_MAX = 4096,
    STAT_BYTES_MAX = 4096,
};

struct database {
    PGconn *admin; /* to the database that was given */
    PGconn *conn;  /* to ours */
    PGconn *held;  /* the same, in a transaction that nobody ends; NULL: there is none */
    struct arena arena;
    const char *name; /* NULL: not ours */
    const char *url;
    struct ledger before; /* what was there when we came */
};

/* As in ledger.c. The partition's turns are not counted: a server writes one row per commit and
 * sweeps old ones. */
static const char sql_totals[] =
    "SELECT (SELECT count(*) FROM belfry.job), (SELECT count(*) FROM belfry.live),"
    " (SELECT count(*) FROM belfry.attempt WHERE outcome <> 7)"
    " + (SELECT count(attempt_outcome) FROM belfry.history),"
    " pg_database_size(current_database())";
static const char sql_history[] = "SELECT state, count(*) FROM belfry.history GROUP BY state";

/* ---- making */

static enum rc fail(PGconn *conn, const char *doing, struct err *err)
{
    struct str text = str_trim(str_c(PQerrorMessage(conn)));
    return err_set(err, RC_IO, "%s: %.*s", doing, STR_ARG(text));
}

static enum rc run(PGconn *conn, const char *sql, struct err *err)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? RC_OK : fail(conn, sql, err);
}

static void add_escaped(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (isalnum((unsigned char)*text))
            buf_add_char(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
    }
}

/* Everything that was given, with another name of the database. */
static const char *url_of(PGconn *conn, const char *name, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(URL_BYTES_MAX);
    PQconninfoOption *options = PQconninfo(conn);
    buf_printf(&out, "postgres:///%s", name);
    char sep = '?';
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        if (o->val == NULL || o->val[0] == '\0' || strcmp(o->keyword, "dbname") == 0)
            continue;
        buf_printf(&out, "%c%s=", sep, o->keyword);
        add_escaped(&out, o->val);
        sep = '&';
    }
    PQconninfoFree(options);
    return arena_zstr(arena, buf_str(&out));
}

static enum rc use(struct database *d, const char *url, struct err *err)
{
    d->url = url;
    d->conn = PQconnectdb(url);
    if (PQstatus(d->conn) != CONNECTION_OK)
        return fail(d->conn, "cannot connect to PostgreSQL", err);
    return database_read(d, &d->before, err);
}

static enum rc make(struct database *d, const char *url, struct err *err)
{
    d->admin = PQconnectdb(url);
    if (PQstatus(d->admin) != CONNECTION_OK)
        return fail(d->admin, "cannot connect to PostgreSQL", err);
    d->name =
        arena_printf(&d->arena, "belfry_bench_%d_%" PRId64, (int)getpid(), clock_mono_us()).ptr;
    TRY(run(d->admin, arena_printf(&d->arena, "CREATE DATABASE %s", d->name).ptr, err));
    d->url = url_of(d->admin, d->name, &d->arena);
    d->conn = PQconnectdb(d->url);
    return PQstatus(d->conn) == CONNECTION_OK ? RC_OK
                                              : fail(d->conn, "cannot connect to PostgreSQL", err);
}

enum rc database_make(const char *url, bool here, struct database **ret_database, struct err *err)
{
    struct database *d = MEM_NEW(struct database);
    enum rc rc = here ? use(d, url, err) : make(d, url, err);
    if (rc != RC_OK) {
        database_free(d);
        return rc;
    }
    *ret_database = d;
    return RC_OK;
}

void database_free(struct database *d)
{
    struct err err;
    if (d == NULL)
        return;
    PQfinish(d->held);
    PQfinish(d->conn);
    if (d->name != NULL && d->url != NULL &&
        run(d->admin, arena_printf(&d->arena, "DROP DATABASE %s WITH (FORCE)", d->name).ptr, &err))
        fprintf(stderr, "belfry bench: %s\n", err.text);
    PQfinish(d->admin);
    arena_free(&d->arena);
    free(d);
}

const char *database_url(const struct database *d)
{
    return d->url;
}

/* ---- for planner and vacuum */

enum rc database_analyze(struct database *d, struct err *err)
{
    return run(d->conn, "ANALYZE", err);
}

enum rc database_hold(struct database *d, struct err *err)
{
    d->held = PQconnectdb(d->url);
    if (PQstatus(d->held) != CONNECTION_OK)
        return fail(d->held, "cannot connect to PostgreSQL", err);
    TRY(run(d->held, "BEGIN ISOLATION LEVEL REPEATABLE READ", err));
    return run(d->held, "SELECT count(*) FROM belfry.meta", err); /* which takes the snapshot */
}

/* ---- counting */

static uint64_t column(const PGresult *rows, int row, int at)
{
    uint64_t value = 0;
    (void)str_to_u64(str_c(PQgetvalue(rows, row, at)), &value);
    return value;
}

static void clear_result(PGresult **result)
{
    PQclear(*result);
}

static enum rc ask(PGconn *conn, const char *sql, PGresult **ret_rows, struct err *err)
{
    *ret_rows = PQexec(conn, sql);
    return PQresultStatus(*ret_rows) == PGRES_TUPLES_OK ? RC_OK : fail(conn, "cannot count", err);
}

enum rc database_read(struct database *d, struct ledger *ret_ledger, struct err *err)
{
    CLEANUP(clear_result) PGresult *totals = NULL;
    CLEANUP(clear_result) PGresult *history = NULL;
    struct ledger ledger = {0};
    TRY(ask(d->conn, sql_totals, &totals, err));
    TRY(ask(d->conn, sql_history, &history, err));
    ledger.jobs = column(totals, 0, 0) - d->before.jobs;
    ledger.live = column(totals, 0, 1) - d->before.live;
    ledger.attempts = column(totals, 0, 2) - d->before.attempts;
    ledger.bytes = column(totals, 0, 3) - d->before.bytes;
    for (int i = 0; i < PQntuples(history); i++) {
        uint64_t state = column(history, i, 0);
        ledger.history[state < EXEC_STATES ? state : EXEC_NONE] += column(history, i, 1);
    }
    for (size_t i = 0; i < EXEC_STATES; i++)
        ledger.history[i] -= d->before.history[i];
    *ret_ledger = ledger;
    return RC_OK;
}

/* ---- what it costs */

/* Of /proc/PID/stat: behind the name in brackets stand state, parent and, from the twelfth on, its
 * own time in user and system mode and that of the children it has waited for. */
struct proc {
    bool is_postgres;
    int parent;
    uint64_t ticks;
};

static struct proc read_proc(int pid, struct arena *arena)
{
    enum { PARENT = 1, TIMES = 11, TIMES_END = 15 };
    char path[64];
    struct str rest;
    struct proc proc = {0};
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (file_read(path, STAT_BYTES_MAX, arena, &rest, NULL) != RC_OK)
        return proc;
    (void)str_cut(&rest, '(');
    proc.is_postgres = str_eq(str_cut(&rest, ')'), STR("postgres"));
    (void)str_cut(&rest, ' ');
    for (int i = 0; i < TIMES_END; i++) {
        uint64_t number = 0;
        (void)str_to_u64(str_cut(&rest, ' '), &number);
        if (i == PARENT)
            proc.parent = (int)number;
        if (i >= TIMES)
            proc.ticks += number;
    }
    return proc;
}

/* All processes of the server that our connection belongs to. Who has ended counts as its parent's
 * child, so nothing is forgotten. */
int64_t database_cpu_us(const struct database *d)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct proc backend = read_proc(PQbackendPID(d->conn), &arena);
    if (!backend.is_postgres || !read_proc(backend.parent, &arena).is_postgres)
        return 0;
    uint64_t ticks = read_proc(backend.parent, &arena).ticks;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        uint64_t pid;
        if (!str_to_u64(str_c(entry->d_name), &pid))
            continue;
        arena_reset(&arena);
        struct proc proc = read_proc((int)pid, &arena);
        if (proc.is_postgres && proc.parent == backend.parent)
            ticks += proc.ticks;
    }
    if (dir != NULL)
        closedir(dir);
    return (int64_t)(ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}
