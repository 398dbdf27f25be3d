#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

struct nodes_args {
    struct cli_common common;
    bool partitions;
    bool takeovers;
    bool outages;
};

static const struct opt table[] = {
    {"partitions", 0, OPT_FLAG, NULL, offsetof(struct nodes_args, partitions),
     "list who owns which partition since when"},
    {"takeovers", 0, OPT_FLAG, NULL, offsetof(struct nodes_args, takeovers),
     "list which server took partitions from which, when and why"},
    {"outages", 0, OPT_FLAG, NULL, offsetof(struct nodes_args, outages),
     "list when the store took no commits, and why"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "nodes", "[options]",
    "Lists the servers that share the store: where they are, how many partitions each owns,\n"
    "when it was seen, how long its commits of the last minute took, and how far its clock is\n"
    "off (the database's is the one that counts).",
    table, COUNT_OF(table)};

static const struct view_field node_fields[] = {
    {{.title = "NODE", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "PARTITIONS", .right = true}, VIEW_TEXT, "partitions"},
    {{.title = "ADDRESS", .flexible = true}, VIEW_TEXT, "address"},
    {{.title = "VERSION", .optional = true}, VIEW_TEXT, "version"},
    {{.title = "COMMIT P50", .right = true, .optional = true}, VIEW_MICROS, "commits.p50_us"},
    {{.title = "P99", .right = true, .optional = true}, VIEW_MICROS, "commits.p99_us"},
    {{.title = "SKEW MS", .right = true, .optional = true}, VIEW_TEXT, "skew_ms"},
    {{.title = "SEEN", .optional = true}, VIEW_WHEN, "seen_at"},
    {{.title = "STARTED", .optional = true}, VIEW_WHEN, "started_at"},
};

static const struct view_field partition_fields[] = {
    {{.title = "PARTITION", .right = true}, VIEW_TEXT, "partition"},
    {{.title = "OWNER", .flexible = true}, VIEW_TEXT, "owner"},
    {{.title = "SINCE"}, VIEW_WHEN, "since"},
    {{.title = "BEFORE", .flexible = true, .optional = true}, VIEW_TEXT, "former"},
    {{.title = "EPOCH", .right = true, .optional = true}, VIEW_TEXT, "epoch"},
};

static const struct view_field takeover_fields[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "TO", .flexible = true}, VIEW_TEXT, "to"},
    {{.title = "FROM", .flexible = true}, VIEW_TEXT, "from"},
    {{.title = "WHY"}, VIEW_TEXT, "why"},
    {{.title = "PARTITIONS", .flexible = true}, VIEW_WORDS, "partitions"},
};

static const struct view_field outage_fields[] = {
    {{.title = "SERVER", .flexible = true}, VIEW_TEXT, "server"},
    {{.title = "FROM"}, VIEW_WHEN, "from"},
    {{.title = "UNTIL"}, VIEW_WHEN, "until"},
    {{.title = "CODE"}, VIEW_TEXT, "code"},
    {{.title = "ERROR", .flexible = true}, VIEW_TEXT, "error"},
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
    else if (args->takeovers)
        print_rows(cli, json_get(&cluster, STR("takeovers")), takeover_fields,
                   COUNT_OF(takeover_fields));
    else if (args->outages)
        print_rows(cli, json_get(&cluster, STR("outages")), outage_fields, COUNT_OF(outage_fields));
    else
        print_rows(cli, json_get(&cluster, STR("nodes")), node_fields, COUNT_OF(node_fields));
    return RC_OK;
}

int nodes_command(int argc, char **argv)
{
    struct nodes_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, run);
}
