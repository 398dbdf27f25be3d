#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

enum { QUERY_BYTES_MAX = 1 << 12 };

struct scaling_args {
    struct cli_common common;
};

static const struct opt table[] = {
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "scaling", "QUEUE [options]",
    "Prints how many slots a queue could use: as many as are running and ready, at most\n"
    "its limit. Fails when a part of that is not known at the moment.",
    table, COUNT_OF(table)};

static const struct view_field fields[] = {
    {{.title = "queue"}, VIEW_TEXT, "queue"},
    {{.title = "ready"}, VIEW_TEXT, "ready"},
    {{.title = "running"}, VIEW_TEXT, "running"},
    {{.title = "slots"}, VIEW_TEXT, "slots"},
    {{.title = "oldest"}, VIEW_DURATION, "oldest_age_ms"},
    {{.title = "wanted slots"}, VIEW_TEXT, "wanted_slots"},
    {{.title = "as of"}, VIEW_WHEN, "as_of"},
    {{.title = "note"}, VIEW_TEXT, "note"},
};

static enum rc scaling(struct cli *cli, const void *arg, struct err *err)
{
    struct json answer;
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    (void)arg;
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "scaling takes the name of one queue");
    api_add_param(&query, "queue", cli->words.items[0]);
    TRY(api_get(cli, arena_printf(&cli->arena, "/scaling?%.*s", STR_ARG(buf_str(&query))), &answer,
                err));
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else
        view_print_page(fields, COUNT_OF(fields), &answer, &cli->arena);
    return RC_OK;
}

int scaling_command(int argc, char **argv)
{
    struct scaling_args args = {.common = {.url = NULL}};
    return cli_main(&opts, argc, argv, &args.common, scaling);
}
