#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

enum { QUERY_BYTES_MAX = 1 << 12 };

struct series_args {
    struct cli_common common;
    const char *queue;
    const char *since;
};

#define AT(member) offsetof(struct series_args, member)
static const struct opt table[] = {
    {"queue", 0, OPT_TEXT, "Q", AT(queue), "of this queue (all together)"},
    {"since", 0, OPT_TEXT, "DURATION", AT(since), "how far back, up to 14d (1h)"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "series", "METRIC [options]",
    "Prints how a number went: depth, oldest_age, running, submitted, started, completed,\n"
    "failed, start_lag_p50 or start_lag_p99. Within an hour every ten seconds, before that by\n"
    "the hour what completed and failed. `-` is a gap.",
    table, COUNT_OF(table)};

static const struct view_field columns[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "VALUE", .right = true}, VIEW_TEXT, "value"},
};

static void print_table(struct cli *cli, const struct json *answer)
{
    CLEANUP(view_free) struct view view = {0};
    view_start(&view, columns, COUNT_OF(columns), &cli->arena);
    const struct json *points = json_get(answer, STR("points"));
    for (size_t i = 0; points != NULL && points->kind == JSON_ARRAY && i < points->count; i++)
        view_add_row(&view, &points->items[i]);
    view_print(&view, "no points");
    const struct json *usual = json_get(answer, STR("usual_per_hour"));
    if (usual != NULL && usual->kind == JSON_INT)
        cli_print_line(arena_printf(&cli->arena, "usual at this hour: %.*s", STR_ARG(usual->raw)));
    struct str note = api_text(answer, STR("note"));
    if (note.len > 0)
        cli_print_line(note);
}

static enum rc series(struct cli *cli, const void *arg, struct err *err)
{
    const struct series_args *args = arg;
    struct json answer;
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "series takes the name of one metric");
    api_add_param(&query, "metric", cli->words.items[0]);
    api_add_param(&query, "queue", args->queue);
    api_add_param(&query, "since", args->since);
    TRY(api_get(cli, arena_printf(&cli->arena, "/series?%.*s", STR_ARG(buf_str(&query))), &answer,
                err));
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else
        print_table(cli, &answer);
    return RC_OK;
}

int series_command(int argc, char **argv)
{
    struct series_args args = {.queue = NULL};
    return cli_main(&opts, argc, argv, &args.common, series);
}
