#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

static const struct opt table[] = {CLI_COMMON_OPTS};

static const struct opts opts = {"stats", "[options]",
                                 "Prints how many jobs and executions there are of each status,\n"
                                 "in all and by queue, at most a second old.",
                                 table, COUNT_OF(table)};

static const struct view_field sums[] = {
    {{.title = "as of"}, VIEW_WHEN, "as_of"},
    {{.title = "active jobs"}, VIEW_TEXT, "jobs.active"},
    {{.title = "paused jobs"}, VIEW_TEXT, "jobs.paused"},
    {{.title = "scheduled"}, VIEW_TEXT, "executions.scheduled"},
    {{.title = "blocked"}, VIEW_TEXT, "executions.blocked"},
    {{.title = "queued"}, VIEW_TEXT, "executions.queued"},
    {{.title = "running"}, VIEW_TEXT, "executions.running"},
    {{.title = "retrying"}, VIEW_TEXT, "executions.retrying"},
    {{.title = "completed"}, VIEW_TEXT, "executions.completed"},
    {{.title = "failed"}, VIEW_TEXT, "executions.failed"},
    {{.title = "dead letters"}, VIEW_TEXT, "dead_letters"},
    {{.title = "workers"}, VIEW_TEXT, "workers.count"},
    {{.title = "slots"}, VIEW_TEXT, "workers.slots"},
    {{.title = "busy"}, VIEW_TEXT, "workers.busy"},
    {{.title = "missing"}, VIEW_WORDS, "missing"},
};

static const struct view_field columns[] = {
    {{.title = "QUEUE", .flexible = true}, VIEW_TEXT, "queue"},
    {{.title = "SCHEDULED", .right = true}, VIEW_TEXT, "scheduled"},
    {{.title = "QUEUED", .right = true}, VIEW_TEXT, "queued"},
    {{.title = "RUNNING", .right = true}, VIEW_TEXT, "running"},
    {{.title = "RETRYING", .right = true}, VIEW_TEXT, "retrying"},
    {{.title = "COMPLETED", .right = true}, VIEW_TEXT, "completed"},
    {{.title = "FAILED", .right = true}, VIEW_TEXT, "failed"},
    {{.title = "DEAD LETTERS", .right = true}, VIEW_TEXT, "dead_letters"},
};

static enum rc stats(struct cli *cli, const void *args, struct err *err)
{
    struct json answer;
    CLEANUP(view_free) struct view view = {0};
    (void)args;
    TRY(cli_no_words(cli, err));
    TRY(api_get(cli, STR("/stats"), &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    view_print_page(sums, COUNT_OF(sums), &answer, &cli->arena);
    cli_print_line(STR(""));
    view_start(&view, columns, COUNT_OF(columns), &cli->arena);
    const struct json *queues = json_get(&answer, STR("queues"));
    for (size_t i = 0; queues != NULL && queues->kind == JSON_ARRAY && i < queues->count; i++)
        view_add_row(&view, &queues->items[i]);
    view_print(&view, "no queues");
    return RC_OK;
}

int stats_command(int argc, char **argv)
{
    struct cli_common args = {.url = NULL};
    return cli_main(&opts, argc, argv, &args, stats);
}
