#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

enum { BODY_BYTES_MAX = 4096 };

static const struct opt table[] = {
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct view_field fields[] = {
    {{.title = "TARGET", .flexible = true}, VIEW_TEXT, "target"},
    {{.title = "STATE"}, VIEW_TEXT, "state"},
    {{.title = "FAILED", .right = true}, VIEW_TEXT, "failures"},
    {{.title = "CALLS", .right = true}, VIEW_TEXT, "calls"},
    {{.title = "WAITING", .right = true}, VIEW_TEXT, "waiting"},
    {{.title = "NEXT TRY"}, VIEW_WHEN, "probe_at"},
    {{.title = "SINCE", .optional = true}, VIEW_WHEN, "opened_at"},
};

static const struct listing listing = {
    .opts =
        {"breakers", "[options]   or   belfry breakers reset TARGET",
         "Lists what jobs call (by their handler, or the breaker that they name) and how that\n"
         "went lately. What keeps failing is left alone for a while, and its jobs wait; `reset`\n"
         "lets them go at once.",
         table, COUNT_OF(table)},
    .path = "/breakers",
    .key = "breakers",
    .whole = true,
    .nothing = "no breakers: nothing was called lately",
    .fields = fields,
    .field_count = COUNT_OF(fields),
};

static enum rc reset(struct cli *cli, struct err *err)
{
    const char **words = cli->words.items;
    struct json breaker;
    if (!str_eq(str_c(words[0]), STR("reset")))
        return err_set(err, RC_INVALID, "unknown action '%s': reset is known", words[0]);
    if (cli->words.count != 2)
        return err_set(err, RC_INVALID, "reset takes a target, as `belfry breakers` shows it");
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    json_put_str(&w, "target", str_c(words[1]));
    json_close(&w);
    TRY(api_call(cli, "POST", STR("/breakers/reset"), buf_str(&body), &breaker, err));
    cli_print_line(cli->format == CLI_JSON ? breaker.raw
                                           : arena_printf(&cli->arena, "%s is closed", words[1]));
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    return cli->words.count > 0 ? reset(cli, err) : list_print(cli, &listing, args, err);
}

int breakers_command(int argc, char **argv)
{
    struct list_args args = {.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.common, run);
}
