#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

enum { QUERY_BYTES_MAX = 1 << 16 };

struct plan_args {
    struct cli_common common;
    const char *from;
    const char *until;
    const char *step;
    const char *queue;
};

#define AT(member) offsetof(struct plan_args, member)
static const struct opt table[] = {
    {"from", 0, OPT_TEXT, "TIME", AT(from), "from this time on (now)"},
    {"until", 0, OPT_TEXT, "TIME", AT(until), "before this time (a day later)"},
    {"step", 0, OPT_TEXT, "DURATION", AT(step), "one line for each (1h)"},
    {"queue", 0, OPT_TEXT, "QUEUE", AT(queue), "of this queue"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "plan", "[options]",
    "Says how many runs will become due, and when: by the schedules and calendars as they are\n"
    "now. Some may be skipped by a calendar, or held until its time is over.",
    table, COUNT_OF(table)};

static const struct view_field fields[] = {
    {{.title = "FROM"}, VIEW_WHEN, "at"},
    {{.title = "RUNS", .right = true}, VIEW_TEXT, "fires"},
    {{.title = "SKIPPED", .right = true}, VIEW_TEXT, "skipped"},
    {{.title = "HELD", .right = true}, VIEW_TEXT, "held"},
};

static void print_steps(struct cli *cli, const struct json *answer)
{
    CLEANUP(view_free) struct view view;
    const struct json *steps = json_get(answer, STR("steps"));
    const struct json *truncated = json_get(answer, STR("truncated"));
    view_start(&view, fields, COUNT_OF(fields), &cli->arena);
    for (size_t i = 0; steps != NULL && i < steps->count; i++)
        view_add_row(&view, &steps->items[i]);
    view_print(&view, "no runs ahead");
    if (truncated != NULL && truncated->kind == JSON_BOOL && truncated->boolean)
        cli_print_line(STR("More than could be counted: these are the least there will be."));
}

static enum rc run(struct cli *cli, const void *args, struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    const struct plan_args *given = args;
    struct json answer;
    TRY(cli_no_words(cli, err));
    api_add_param(&query, "from", given->from);
    api_add_param(&query, "until", given->until);
    api_add_param(&query, "step", given->step);
    api_add_param(&query, "queue", given->queue);
    struct str params = buf_str(&query);
    struct str path = arena_printf(&cli->arena, "/schedule/forecast%s%.*s",
                                   params.len > 0 ? "?" : "", STR_ARG(params));
    TRY(api_get(cli, path, &answer, err));
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else
        print_steps(cli, &answer);
    return RC_OK;
}

int plan_command(int argc, char **argv)
{
    struct plan_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, run);
}
