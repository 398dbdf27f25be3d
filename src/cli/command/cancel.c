#include "base/id.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/many.h"

struct cancel_args {
    struct cli_common common;
    const char *reason;
    struct many_args many;
};

#define AT(member) offsetof(struct cancel_args, member)
static const struct opt table[] = {
    {"reason", 0, OPT_TEXT, "TEXT", AT(reason), "kept with the execution"},
    MANY_OPTS(AT(many)),
    {"executions", 0, OPT_FLAG, NULL, AT(many.executions), "with these: executions, not jobs"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "cancel", "ID... [options]   or   belfry cancel --filter KEY=VALUE,...|--all",
    "Cancels a job and what runs of it, or one execution. A command that runs is told to stop\n"
    "(SIGTERM, after a grace time SIGKILL); `belfry show ID` says when it is gone. With --filter\n"
    "or --all it cancels all jobs that fit, and asks before it does.",
    table, COUNT_OF(table)};

static bool names_executions(const struct cli *cli)
{
    return cli->words.count > 0 && str_starts(str_c(cli->words.items[0]), str_c(ID_EXEC));
}

static enum rc cancel(struct cli *cli, const void *arg, struct err *err)
{
    const struct cancel_args *args = arg;
    struct cli_target target;
    struct json answer;
    if (many_is_meant(cli, &args->many)) {
        bool executions = args->many.executions || names_executions(cli);
        TRY(many_refuses(args->reason != NULL, "--reason", err));
        return many_act(cli, "cancel", executions, &args->many, err);
    }
    TRY(api_target(cli, &target, err));
    if (target.is_execution) {
        struct str path = arena_printf(&cli->arena, "/executions/%.*s/cancel", STR_ARG(target.id));
        struct str body = api_reason(args->reason, &cli->arena);
        TRY(api_call(cli, "POST", path, body, &answer, err));
    } else {
        if (args->reason != NULL)
            return err_set(err, RC_INVALID, "--reason is for executions; a job takes none");
        struct str path = arena_printf(&cli->arena, "/jobs/%.*s", STR_ARG(target.id));
        TRY(api_call(cli, "DELETE", path, STR(""), &answer, err));
    }
    api_print_status(cli, target.id, &answer);
    return RC_OK;
}

int cancel_command(int argc, char **argv)
{
    struct cancel_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, cancel);
}
