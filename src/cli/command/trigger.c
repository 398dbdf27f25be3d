#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/many.h"

struct trigger_args {
    struct cli_common common;
    const char *payload;
    bool wait;
    struct many_args many;
};

#define AT(member) offsetof(struct trigger_args, member)
static const struct opt table[] = {
    {"wait", 0, OPT_FLAG, NULL, AT(wait), "stream its output and exit with its exit code"},
    MANY_OPTS(AT(many)),
    {"payload", 0, OPT_TEXT, "JSON|@FILE", AT(payload), "run with this; of jobs that recur"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "trigger", "JOB... [options]   or   belfry trigger --filter KEY=VALUE,...|--all",
    "Runs a job now. One with a schedule keeps it: this is one run more. One that waits for its\n"
    "time does not wait any longer. Prints the id of the execution.",
    table, COUNT_OF(table)};

static enum rc trigger(struct cli *cli, const void *arg, struct err *err)
{
    const struct trigger_args *args = arg;
    struct cli_target target;
    struct str body;
    if (many_is_meant(cli, &args->many)) {
        TRY(many_refuses(args->payload != NULL, "--payload", err));
        TRY(many_refuses(args->wait, "--wait", err));
        return many_act(cli, "trigger", false, &args->many, err);
    }
    TRY(api_target(cli, &target, err));
    TRY(cli_is_job(&target, "trigger", err));
    struct str path = arena_printf(&cli->arena, "/jobs/%.*s/trigger", STR_ARG(target.id));
    TRY(follow_retry_body(cli, args->payload, &body, err));
    return follow_new(cli, path, body, args->wait, err);
}

int trigger_command(int argc, char **argv)
{
    struct trigger_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, trigger);
}
