#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

#include <inttypes.h>

struct graph_args {
    struct cli_common common;
    int64_t depth;
};

#define AT(member) offsetof(struct graph_args, member)
static const struct opt table[] = {
    {"depth", 0, OPT_NUMBER, "N", AT(depth), "how many jobs away on either side (3)"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "graph", "JOB [options]",
    "Shows which jobs a job waits for, which wait for it, and what those wait for in turn.", table,
    COUNT_OF(table)};

static const struct view_field node_columns[] = {
    {{.title = "JOB"}, VIEW_TEXT, "job_id"},
    {{.title = "NAME", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "PHASE", .optional = true}, VIEW_TEXT, "phase"},
    {{.title = "NEXT RUN", .optional = true}, VIEW_WHEN, "next_run_at"},
};

static const struct view_field edge_columns[] = {
    {{.title = "JOB"}, VIEW_TEXT, "to"},
    {{.title = "WAITS FOR"}, VIEW_TEXT, "from"},
    {{.title = "TYPE"}, VIEW_TEXT, "type"},
    {{.title = "STATE"}, VIEW_TEXT, "state"},
};

static void print_part(struct cli *cli, const struct json *items, const struct view_field *columns,
                       size_t count, const char *nothing)
{
    CLEANUP(view_free) struct view view;
    view_start(&view, columns, count, &cli->arena);
    for (size_t i = 0; items != NULL && items->kind == JSON_ARRAY && i < items->count; i++)
        view_add_row(&view, &items->items[i]);
    view_print(&view, nothing);
}

static void print_hidden(struct cli *cli, const struct json *graph)
{
    const struct json *hidden = json_get(graph, STR("hidden"));
    const struct json *least = json_get(graph, STR("hidden_is_minimum"));
    if (hidden == NULL || hidden->kind != JSON_INT || hidden->integer == 0)
        return;
    bool more = least != NULL && least->kind == JSON_BOOL && least->boolean;
    cli_print_line(arena_printf(&cli->arena, "\n%s%" PRId64 " more next to these are not shown",
                                more ? "at least " : "", hidden->integer));
}

static enum rc graph(struct cli *cli, const void *arg, struct err *err)
{
    const struct graph_args *args = arg;
    struct json answer;
    struct str id;
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "takes one job");
    TRY(api_job_id(cli, str_c(cli->words.items[0]), &id, err));
    struct str path =
        arena_printf(&cli->arena, "/jobs/%.*s/graph?depth=%" PRId64, STR_ARG(id), args->depth);
    TRY(api_get(cli, path, &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    print_part(cli, json_get(&answer, STR("nodes")), node_columns, COUNT_OF(node_columns), "");
    cli_print_line(STR(""));
    print_part(cli, json_get(&answer, STR("edges")), edge_columns, COUNT_OF(edge_columns),
               "it waits for no job, and none waits for it");
    print_hidden(cli, &answer);
    return RC_OK;
}

int graph_command(int argc, char **argv)
{
    struct graph_args args = {.depth = 3};
    return cli_main(&opts, argc, argv, &args.common, graph);
}
