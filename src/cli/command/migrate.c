/* migrate.c - makes schema belfry in a PostgreSQL database, or brings it to this version. Speaks
 * with the database itself: servers may be running or not. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "loop/usage.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

struct migrate_args {
    struct cli_common common;
    const char *store;
    const char *role;
    int64_t partitions;
};

#define AT(member) offsetof(struct migrate_args, member)
static const struct opt table[] = {
    {"store", 0, OPT_TEXT, "URL", AT(store),
     "postgres://USER:PASSWORD@HOST/DATABASE (BELFRY_STORE)"},
    {"role", 0, OPT_TEXT, "NAME", AT(role),
     "give this role what a server needs, and its time-outs"},
    {"partitions", 0, OPT_NUMBER, "N", AT(partitions), "when the schema is made: 1 to 64 (16)"},
    CLI_PRINT_OPTS,
};

static const struct opts opts = {
    "migrate", "--store URL [options]",
    "Makes schema belfry in a PostgreSQL database, or brings it to this version; does nothing\n"
    "where it is there already. A server whose user may do that does it by itself.",
    table, COUNT_OF(table)};

static enum rc check_args(const struct migrate_args *args, const char *url, struct err *err)
{
    if (url == NULL || !(str_starts(str_c(url), STR("postgres://")) ||
                         str_starts(str_c(url), STR("postgresql://"))))
        return err_set(err, RC_INVALID,
                       "needs --store postgres://USER:PASSWORD@HOST/DATABASE (a server on SQLite "
                       "needs no migration)");
    if (args->partitions < 0 || args->partitions > PARTITIONS_MAX)
        return err_set(err, RC_INVALID, "partitions must be 1 to %d", PARTITIONS_MAX);
    return RC_OK;
}

static void print(struct cli *cli, const struct migrated *m)
{
    struct str text;
    if (cli->format == CLI_JSON)
        text =
            arena_printf(&cli->arena, "{\"from\":%" PRId64 ",\"to\":%" PRId64 "}", m->from, m->to);
    else if (m->from == m->to)
        text = arena_printf(&cli->arena, "schema belfry is at version %" PRId64 " already", m->to);
    else if (m->from == 0)
        text = arena_printf(&cli->arena, "schema belfry was made, at version %" PRId64, m->to);
    else
        text = arena_printf(&cli->arena,
                            "schema belfry went from version %" PRId64 " to version %" PRId64,
                            m->from, m->to);
    cli_print_line(text);
}

static enum rc migrate(struct cli *cli, const void *opaque, struct err *err)
{
    const struct migrate_args *args = opaque;
    struct migrated migrated;
    const char *url = args->store != NULL ? args->store : getenv("BELFRY_STORE");
    TRY(cli_no_words(cli, err));
    TRY(check_args(args, url, err));
    enum rc rc =
        store_postgres_migrate(url, (uint32_t)args->partitions, args->role, &migrated, err);
    if (rc == RC_BUSY)
        return err->rc = RC_UNREACHABLE;
    if (rc == RC_OK)
        print(cli, &migrated);
    return rc;
}

int migrate_command(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct migrate_args args = {0};
    argv = usage_take_args(argc, argv, &arena);
    return cli_main(&opts, argc, argv, &args.common, migrate);
}
