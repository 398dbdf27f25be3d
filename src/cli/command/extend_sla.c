#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"

enum { BODY_BYTES_MAX = 4096 };

struct extend_args {
    struct cli_common common;
    const char *by;
    const char *reason;
    const char *approver;
    const char *execution;
};

#define AT(member) offsetof(struct extend_args, member)
static const struct opt table[] = {
    {"by", 0, OPT_TEXT, "DURATION", AT(by), "how much more time it gets: 30m"},
    {"reason", 0, OPT_TEXT, "TEXT", AT(reason), "why; kept with the execution"},
    {"approver", 0, OPT_TEXT, "WHO", AT(approver), "who agreed; kept with the execution"},
    {"execution", 0, OPT_TEXT, "EXEC", AT(execution), "which one, when several run"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "extend-sla", "JOB --by DURATION --reason TEXT --approver WHO [options]",
    "Gives the execution of a job that runs now more time than its SLA says. Limits that it has\n"
    "exceeded already stay exceeded.",
    table, COUNT_OF(table)};

static const struct view_field lines[] = {
    {{.title = "execution"}, VIEW_TEXT, "execution_id"},
    {{.title = "extended"}, VIEW_DURATION, "extended_ms"},
    {{.title = "expected"}, VIEW_WHEN, "expected_at"},
    {{.title = "at most"}, VIEW_WHEN, "max_at"},
};

static enum rc extend(struct cli *cli, const void *arg, struct err *err)
{
    const struct extend_args *args = arg;
    struct cli_target target;
    struct json answer;
    TRY(api_target(cli, &target, err));
    TRY(cli_is_job(&target, "extend-sla", err));
    if (args->by == NULL || args->reason == NULL || args->approver == NULL)
        return err_set(err, RC_INVALID, "--%s is missing",
                       args->by == NULL       ? "by"
                       : args->reason == NULL ? "reason"
                                              : "approver");
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    json_put_str(&w, "by", str_c(args->by));
    json_put_str(&w, "reason", str_c(args->reason));
    json_put_str(&w, "approver", str_c(args->approver));
    if (args->execution != NULL)
        json_put_str(&w, "execution", str_c(args->execution));
    json_close(&w);
    if (body.overflow)
        return err_set(err, RC_TOO_LARGE, "that is too long");
    struct str path = arena_printf(&cli->arena, "/jobs/%.*s/extend-sla", STR_ARG(target.id));
    TRY(api_call(cli, "POST", path, buf_str(&body), &answer, err));
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else
        view_print_page(lines, COUNT_OF(lines), &answer, &cli->arena);
    return RC_OK;
}

int extend_sla_command(int argc, char **argv)
{
    struct extend_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, extend);
}
