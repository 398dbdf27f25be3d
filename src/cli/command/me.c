#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

struct me_args {
    struct cli_common common;
    bool calls;
};

static const struct opt table[] = {
    {"calls", 0, OPT_FLAG, NULL, offsetof(struct me_args, calls),
     "list the calls that it may make"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "me", "[options]",
    "Says which key this is, to the server that it is shown to, and what it may do.", table,
    COUNT_OF(table)};

static const struct view_field page[] = {
    {{.title = "key"}, VIEW_TEXT, "key"},
    {{.title = "role"}, VIEW_TEXT, "role"},
    {{.title = "actor"}, VIEW_TEXT, "actor"},
};

static const struct view_field columns[] = {
    {{.title = "METHOD"}, VIEW_TEXT, "method"},
    {{.title = "PATH"}, VIEW_TEXT, "path"},
};

static void print_calls(struct cli *cli, const struct json *calls)
{
    CLEANUP(view_free) struct view view = {0};
    view_start(&view, columns, COUNT_OF(columns), &cli->arena);
    for (size_t i = 0; calls != NULL && calls->kind == JSON_ARRAY && i < calls->count; i++)
        view_add_row(&view, &calls->items[i]);
    view_print(&view, "no calls");
}

static enum rc me(struct cli *cli, const void *arg, struct err *err)
{
    const struct me_args *args = arg;
    struct json answer;
    TRY(cli_no_words(cli, err));
    TRY(api_get(cli, STR("/me"), &answer, err));
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else if (args->calls)
        print_calls(cli, json_get(&answer, STR("calls")));
    else
        view_print_page(page, COUNT_OF(page), &answer, &cli->arena);
    return RC_OK;
}

int me_command(int argc, char **argv)
{
    struct me_args args = {.calls = false};
    return cli_main(&opts, argc, argv, &args.common, me);
}
