/* store_checks.c - the database, and how this server gets on with it. */
#include "loop/clock.h"
#include "server/cluster/incidents.h"
#include "server/cluster/membership.h"
#include "server/system/checks.h"
#include "server/turn/decider.h"
#include "store/store.h"

#include <inttypes.h>

enum {
    DATABASE_OFF_MS = 1000,
    POSTGRES_VERSION_MIN = 15,
    CONNECTIONS_PERCENT = 80,
    COMMIT_SLOW_US = 1000000, /* clients begin to notice */
    RECENT_MS = 3600000,
};
#define WAL_LARGE_BYTES (UINT64_C(256) << 20) /* it is moved into the file at a few MiB */

/* ---- what the database says about itself */

static uint64_t number_of(const struct store_about *about, const char *name)
{
    uint64_t number;
    return str_to_u64(store_about_get(about, name), &number) ? number : 0;
}

static bool says(const struct store_about *about, const char *name, const char *value)
{
    return str_eq(store_about_get(about, name), str_c(value));
}

static bool is_size(struct str name)
{
    static const struct str unit = STR_INIT("bytes");
    return name.len >= unit.len && str_eq(str_from(name, name.len - unit.len), unit);
}

/* "sqlite, /var/lib/belfry/belfry.db: version 3.40.1, bytes 1.2 MiB, …" */
static struct str about_text(const struct store_about *about, struct arena *arena)
{
    struct str text = arena_printf(arena, "%s, %.*s", about->kind, STR_ARG(about->place));
    for (size_t i = 0; i < about->count; i++) {
        const struct store_fact *fact = &about->facts[i];
        struct str value = fact->value;
        if (is_size(str_c(fact->name)))
            value = checks_size(arena, number_of(about, fact->name));
        text = arena_printf(arena, "%.*s%s %s %.*s", STR_ARG(text), i == 0 ? ":" : ",", fact->name,
                            STR_ARG(value));
    }
    return text;
}

static void judge_sqlite(struct check *check, const struct store_about *about)
{
    uint64_t wal = number_of(about, "wal_bytes");
    if (!says(about, "journal_mode", "wal"))
        check_find(
            check, CHECK_WARNING,
            "another program has changed the journal mode: restart the server, which sets it");
    if (wal > WAL_LARGE_BYTES && wal > number_of(about, "bytes") / 2)
        check_find(check, CHECK_WARNING,
                   "the write-ahead log does not get into the file: end programs that hold a read "
                   "transaction open (a backup, an sqlite3 shell)");
}

static void judge_postgres(struct check *check, const struct store_about *about)
{
    struct str version = store_about_get(about, "version");
    uint64_t major;
    uint64_t max = number_of(about, "max_connections");
    if (!says(about, "fsync", "on"))
        check_find(check, CHECK_FAILED,
                   "set fsync = on: a power failure destroys the database as it is");
    if (says(about, "in_recovery", "true"))
        check_find(check, CHECK_FAILED,
                   "this is a standby, which takes no writes: let the URL name the primary, or all "
                   "hosts");
    if (str_to_u64(str_head(version, str_index(version, '.')), &major) &&
        major < POSTGRES_VERSION_MIN)
        check_find(check, CHECK_FAILED, "run PostgreSQL 15 or newer");
    if (!says(about, "full_page_writes", "on"))
        check_find(check, CHECK_WARNING,
                   "set full_page_writes = on, unless the file system writes whole pages");
    if (says(about, "synchronous_commit", "off"))
        check_find(
            check, CHECK_WARNING,
            "set synchronous_commit = on: a crash of the database costs changes that clients "
            "were told are durable");
    if (max > 0 && number_of(about, "connections") * 100 > max * CONNECTIONS_PERCENT)
        check_find(check, CHECK_WARNING,
                   "few connections are left: raise max_connections, or put PgBouncer in between");
}

/* The database's clock against that of this machine, half the round trip counted. */
static void check_database_clock(struct checks *c, const struct store_about *about,
                                 int64_t asked_ms)
{
    int64_t now_ms = clock_own_wall_ms();
    int64_t off_ms = (asked_ms + now_ms) / 2 - about->now_ms;
    struct check *check = checks_add(
        c, "database_clock",
        arena_printf(c->arena, "this machine's clock is %" PRId64 " ms %s the database's",
                     off_ms < 0 ? -off_ms : off_ms, off_ms < 0 ? "behind" : "ahead of"));
    if (off_ms > DATABASE_OFF_MS || off_ms < -DATABASE_OFF_MS)
        check_find(check, CHECK_WARNING,
                   "run a time service on both machines; what counts is the database's clock");
}

static void check_database(struct checks *c, const struct server *s, struct reader *reader)
{
    struct store_about about;
    struct err err;
    int64_t asked_ms = clock_own_wall_ms();
    if (reader->ops->about(reader, c->arena, &about, &err) != RC_OK) {
        struct check *check = checks_add(c, "database", arena_str(c->arena, str_c(err.text)));
        check_find(check, CHECK_FAILED,
                   "see whether the database runs, can be reached from this machine, and has room");
        return;
    }
    struct str text = about_text(&about, c->arena);
    bool files = s->options->store_dir != NULL;
    bool full = s->options->durability == DURABILITY_FULL;
    if (files)
        text =
            arena_printf(c->arena, "%.*s, durability %s", STR_ARG(text), full ? "full" : "normal");
    struct check *check = checks_add(c, "database", text);
    if (files)
        judge_sqlite(check, &about);
    else
        judge_postgres(check, &about);
    if (about.now_ms != 0)
        check_database_clock(c, &about, asked_ms);
}

/* ---- how this server gets on with it */

/* Outages of the last hour; one that goes on counts. */
static size_t recent_outages(const struct store_outage *list, size_t count)
{
    size_t recent = 0;
    for (size_t i = 0; i < count; i++)
        recent += list[i].until_ms == 0 || list[i].until_ms > clock_wall_ms() - RECENT_MS;
    return recent;
}

static void check_store(struct checks *c, struct server *s)
{
    struct store_outage *list;
    size_t count = incidents_outages(s->incidents, c->arena, &list);
    size_t recent = recent_outages(list, count);
    size_t quarantined = atomic_load(&s->quarantined);
    bool off = atomic_load(&s->trouble) != RC_OK;
    struct check *check = checks_add(
        c, "store",
        arena_printf(c->arena,
                     "it takes %scommits; %zu outages within the last hour, %zu executions "
                     "quarantined",
                     off ? "no " : "", recent, quarantined));
    if (off && recent > 0 && list[0].until_ms == 0)
        check->detail =
            arena_printf(c->arena, "%.*s; %s", STR_ARG(check->detail), list[0].why.text);
    if (recent > 0)
        check_find(check, CHECK_WARNING, "GET /api/v1/cluster tells why the store took nothing");
    if (quarantined > 0)
        check_find(check, CHECK_WARNING,
                   "the log names the executions whose rows make no sense; see whether the disk or "
                   "the database has lost something");
    if (off)
        check_find(
            check, CHECK_FAILED,
            "what the server is told is refused until the store takes commits again: look at "
            "the database and its disk");
}

static void check_commits(struct checks *c, struct server *s)
{
    struct sketch sketch;
    decider_commit_times(s->decider, &sketch);
    uint64_t p99_us = sketch_quantile(&sketch, 990);
    struct check *check = checks_add(
        c, "commits",
        arena_printf(c->arena,
                     "%" PRIu64 " in the last minute, p50 %" PRIu64 " us, p99 %" PRIu64 " us",
                     sketch.total, sketch_quantile(&sketch, 500), p99_us));
    if (p99_us > COMMIT_SLOW_US)
        check_find(
            check, CHECK_WARNING,
            "commits are slow: look at the disk (or the network to the database) and at what "
            "else writes there");
}

static void check_membership(struct checks *c, const struct server *s)
{
    if (s->membership == NULL)
        return;
    bool may = membership_may_decide(s->membership);
    const char *idle = membership_why_idle(s->membership);
    struct check *check =
        checks_add(c, "membership",
                   may ? idle == NULL ? STR("it decides about its partitions") : str_c(idle)
                       : STR("this server could not renew its membership, and decides nothing"));
    if (!may)
        check_find(check, CHECK_FAILED,
                   "see whether the database can be reached from this machine; other servers take "
                   "over meanwhile");
}

void checks_store(struct checks *c, struct server *s, struct reader *reader)
{
    check_database(c, s, reader);
    check_store(c, s);
    check_commits(c, s);
    check_membership(c, s);
}
