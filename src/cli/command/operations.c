/* operations.c - `belfry operations`: what is done with many, and how far it has come. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/list.h"

static const struct opt table[] = {CLI_COMMON_OPTS};

static const struct view_field fields[] = {
    {{.title = "OPERATION"}, VIEW_TEXT, "operation_id"},
    {{.title = "ACTION"}, VIEW_TEXT, "kind"},
    {{.title = "OF"}, VIEW_TEXT, "of"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "DONE", .right = true}, VIEW_TEXT, "done"},
    {{.title = "REFUSED", .right = true}, VIEW_TEXT, "refused"},
    {{.title = "TOTAL", .right = true}, VIEW_TEXT, "total"},
    {{.title = "CREATED"}, VIEW_WHEN, "created_at"},
    {{.title = "ACTOR", .flexible = true}, VIEW_TEXT, "actor"},
};

static const struct listing listing = {
    .opts =
        {"operations", "[options]   or   belfry operations show|cancel ID",
         "Lists actions on many jobs, executions or dead letters: how far the servers have come,\n"
         "newest first. `show` prints one, with the first refusals; `cancel` stops one where it\n"
         "is: what was done stays.",
         table, COUNT_OF(table)},
    .path = "/operations",
    .key = "operations",
    .nothing = "no operations",
    .fields = fields,
    .field_count = COUNT_OF(fields),
    .whole = true,
};

static enum rc act(struct cli *cli, struct err *err)
{
    enum { SHOW, CANCEL, PATH_MAX_BYTES = 4096 };
    CLEANUP(buf_free) struct buf path = BUF(PATH_MAX_BYTES);
    int action = opts_choice("show|cancel", str_c(cli->words.items[0]));
    struct json answer;
    if (action < 0 || cli->words.count != 2)
        return err_set(err, RC_INVALID, "show and cancel are known, and each takes one id");
    buf_add(&path, STR("/operations/"));
    api_add_encoded(&path, cli->words.items[1]);
    if (action == CANCEL)
        buf_add(&path, STR("/cancel"));
    TRY(api_call(cli, action == CANCEL ? "POST" : "GET", buf_str(&path), STR(""), &answer, err));
    if (action == SHOW || cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else
        api_print_status(cli, str_c(cli->words.items[1]), &answer);
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    return cli->words.count > 0 ? act(cli, err) : list_print(cli, &listing, args, err);
}

int operations_command(int argc, char **argv)
{
    struct list_args args = {.limit = LIST_LIMIT_DEFAULT};
    return cli_main(&listing.opts, argc, argv, &args.common, run);
}
