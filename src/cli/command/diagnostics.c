#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

struct diagnostics_args {
    struct cli_common common;
};

static const struct opt table[] = {CLI_COMMON_OPTS};

static const struct opts opts = {
    "diagnostics", "[options]",
    "Prints the checks that each server makes of itself, its machine and its store, and what to\n"
    "do about those that are not well. Exits with 1 when one of them failed.",
    table, COUNT_OF(table)};

static const struct view_field columns[] = {
    {{.title = "CHECK"}, VIEW_TEXT, "name"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "SERVER"}, VIEW_TEXT, "server"},
    {{.title = "DETAIL", .flexible = true}, VIEW_TEXT, "detail"},
};

static void print_table(struct cli *cli, const struct json *checks)
{
    CLEANUP(view_free) struct view view = {0};
    view_start(&view, columns, COUNT_OF(columns), &cli->arena);
    for (size_t i = 0; i < checks->count; i++)
        view_add_row(&view, &checks->items[i]);
    view_print(&view, "no checks");
}

/* Whole, below the table, where nothing is cut. */
static void print_advice(struct cli *cli, const struct json *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct json *check = &checks->items[i];
        struct str advice = api_text(check, STR("advice"));
        if (advice.len > 0)
            cli_print_line(arena_printf(&cli->arena, "\n%.*s (%.*s): %.*s\n  %.*s",
                                        STR_ARG(api_text(check, STR("name"))),
                                        STR_ARG(api_text(check, STR("server"))),
                                        STR_ARG(api_text(check, STR("detail"))), STR_ARG(advice)));
    }
}

static enum rc diagnostics(struct cli *cli, const void *arg, struct err *err)
{
    struct json answer;
    (void)arg;
    TRY(cli_no_words(cli, err));
    TRY(api_get(cli, STR("/diagnostics"), &answer, err));
    const struct json *checks = json_get(&answer, STR("checks"));
    const struct json *missing = json_get(&answer, STR("missing"));
    if (str_eq(api_text(&answer, STR("status")), STR("failed")))
        cli->exit_code = CLI_FAILED;
    if (cli->format == CLI_JSON || checks == NULL || checks->kind != JSON_ARRAY) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    print_table(cli, checks);
    print_advice(cli, checks);
    if (missing != NULL)
        cli_print_line(arena_printf(&cli->arena, "\nno answer from: %.*s", STR_ARG(missing->raw)));
    return RC_OK;
}

int diagnostics_command(int argc, char **argv)
{
    struct diagnostics_args args = {.common = {0}};
    return cli_main(&opts, argc, argv, &args.common, diagnostics);
}
