#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

#include <inttypes.h>

enum { PATH_BYTES_MAX = 1 << 16 };

static const struct opt table[] = {
    {"limit", 0, OPT_NUMBER, "N", LIST_AT(limit), "how many to list, by name (50)"},
    {"all", 0, OPT_FLAG, NULL, LIST_AT(all), "all of them"},
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "TEAM", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "RUNNING", .right = true}, VIEW_TEXT, "running"},
    {{.title = "LIMIT", .right = true}, VIEW_TEXT, "concurrency"},
    {{.title = "CHANGED", .optional = true}, VIEW_WHEN, "changed_at"},
    {{.title = "CHANGED BY", .flexible = true, .optional = true}, VIEW_TEXT, "changed_by"},
};

static const struct listing listing = {
    .opts = {"teams", "[options]   or   belfry teams limit NAME N|none",
             "Lists the teams that have jobs to do, or a limit. `limit` says how many of a team's\n"
             "jobs run at once, at most, in whatever queue.",
             table, COUNT_OF(table)},
    .path = "/teams",
    .key = "teams",
    .nothing = "no teams",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

/* The state of the team, in a line. */
static void print_team(struct cli *cli, const struct json *team)
{
    const struct json *limit = json_get(team, STR("concurrency"));
    struct str name = api_text(team, STR("name"));
    if (cli->format == CLI_JSON)
        cli_print_line(team->raw);
    else if (limit != NULL && limit->kind == JSON_INT)
        cli_print_line(arena_printf(&cli->arena, "%.*s at most %" PRId64 " at once", STR_ARG(name),
                                    limit->integer));
    else
        cli_print_line(arena_printf(&cli->arena, "%.*s no limit", STR_ARG(name)));
}

static enum rc change(struct cli *cli, struct err *err)
{
    CLEANUP(buf_free) struct buf path = BUF(PATH_BYTES_MAX);
    const char **words = cli->words.items;
    struct str body;
    struct json team;
    if (!str_eq(str_c(words[0]), STR("limit")))
        return err_set(err, RC_INVALID, "unknown action '%s': limit is known", words[0]);
    if (cli->words.count != 3 || words[1][0] == '\0')
        return err_set(err, RC_INVALID, "limit takes the name of a team and a number, or none");
    TRY(api_limit_body(cli, words[2], &body, err));
    buf_add(&path, STR("/teams/"));
    api_add_encoded(&path, words[1]);
    TRY(api_call(cli, "PUT", arena_str(&cli->arena, buf_str(&path)), body, &team, err));
    print_team(cli, &team);
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    return cli->words.count > 0 ? change(cli, err) : list_print(cli, &listing, args, err);
}

int teams_command(int argc, char **argv)
{
    struct list_args args = {.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.common, run);
}
