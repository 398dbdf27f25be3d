#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

enum { QUERY_BYTES_MAX = 1 << 12 };

struct stats_args {
    struct cli_common common;
    bool blockers;
    const char *queue;
};

#define AT(member) offsetof(struct stats_args, member)
static const struct opt table[] = {
    {"blockers", 0, OPT_FLAG, NULL, AT(blockers), "how many wait for what, instead"},
    {"queue", 0, OPT_TEXT, "Q", AT(queue), "with --blockers: only in this queue"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "stats", "[options]",
    "Prints how many jobs and executions there are of each status,\n"
    "in all and by queue, at most a second old; or how many wait for what.",
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

/* "   1100  rate", as the server has them. */
static enum rc print_blockers(struct cli *cli, const char *queue, struct err *err)
{
    struct json answer;
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    api_add_param(&query, "queue", queue);
    TRY(api_get(cli,
                arena_printf(&cli->arena, "/stats/blockers%s%.*s", query.len > 0 ? "?" : "",
                             STR_ARG(buf_str(&query))),
                &answer, err));
    const struct json *blockers = json_get(&answer, STR("blockers"));
    const struct json *sampled = json_get(&answer, STR("sampled"));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    for (size_t i = 0; blockers != NULL && i < blockers->count; i++)
        cli_print_line(arena_printf(&cli->arena, "%10.*s  %.*s",
                                    STR_ARG(blockers->members[i].value.raw),
                                    STR_ARG(blockers->members[i].key)));
    if (blockers == NULL || blockers->count == 0)
        cli_print_line(STR("nothing waits"));
    if (sampled != NULL && sampled->boolean)
        cli_print_line(STR("about: there are too many to look at each"));
    return RC_OK;
}

static enum rc stats(struct cli *cli, const void *arg, struct err *err)
{
    const struct stats_args *args = arg;
    struct json answer;
    CLEANUP(view_free) struct view view = {0};
    TRY(cli_no_words(cli, err));
    if (args->queue != NULL && !args->blockers)
        return err_set(err, RC_INVALID, "--queue goes with --blockers");
    if (args->blockers)
        return print_blockers(cli, args->queue, err);
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
    struct stats_args args = {.blockers = false};
    return cli_main(&opts, argc, argv, &args.common, stats);
}
