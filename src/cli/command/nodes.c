#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

struct nodes_args {
    struct cli_common common;
    bool partitions;
};

static const struct opt table[] = {
    {"partitions", 0, OPT_FLAG, NULL, offsetof(struct nodes_args, partitions),
     "list who owns which partition since when"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "nodes", "[options]",
    "Lists the servers that share the store: where they are, how many partitions each owns,\n"
    "when it was seen, and how far its clock is off (the database's is the one that counts).",
    table, COUNT_OF(table)};

static const struct view_field node_fields[] = {
    {{.title = "NODE", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "PARTITIONS", .right = true}, VIEW_TEXT, "partitions"},
    {{.title = "ADDRESS", .flexible = true}, VIEW_TEXT, "address"},
    {{.title = "VERSION", .optional = true}, VIEW_TEXT, "version"},
    {{.title = "SKEW MS", .right = true, .optional = true}, VIEW_TEXT, "skew_ms"},
    {{.title = "SEEN", .optional = true}, VIEW_WHEN, "seen_at"},
    {{.title = "STARTED", .optional = true}, VIEW_WHEN, "started_at"},
};

static const struct view_field partition_fields[] = {
    {{.title = "PARTITION", .right = true}, VIEW_TEXT, "partition"},
    {{.title = "OWNER", .flexible = true}, VIEW_TEXT, "owner"},
    {{.title = "SINCE"}, VIEW_WHEN, "since"},
    {{.title = "EPOCH", .right = true, .optional = true}, VIEW_TEXT, "epoch"},
};

static void print_rows(struct cli *cli, const struct json *rows, const struct view_field *fields,
                       size_t count)
{
    CLEANUP(view_free) struct view view;
    view_start(&view, fields, count, &cli->arena);
    for (size_t i = 0; rows != NULL && rows->kind == JSON_ARRAY && i < rows->count; i++)
        view_add_row(&view, &rows->items[i]);
    view_print(&view, "nothing");
}

static enum rc run(struct cli *cli, const void *arg, struct err *err)
{
    const struct nodes_args *args = arg;
    struct json cluster;
    if (cli->words.count > 0)
        return err_set(err, RC_INVALID, "unexpected argument '%s'", cli->words.items[0]);
    TRY(api_call(cli, "GET", STR("/cluster"), STR(""), &cluster, err));
    if (cli->format == CLI_JSON)
        cli_print_line(cluster.raw);
    else if (args->partitions)
        print_rows(cli, json_get(&cluster, STR("partitions")), partition_fields,
                   COUNT_OF(partition_fields));
    else
        print_rows(cli, json_get(&cluster, STR("nodes")), node_fields, COUNT_OF(node_fields));
    return RC_OK;
}

int nodes_command(int argc, char **argv)
{
    struct nodes_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, run);
}
