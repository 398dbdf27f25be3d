#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/many.h"

struct retry_args {
    struct cli_common common;
    bool wait;
    const char *payload;
    struct many_args many;
};

#define AT(member) offsetof(struct retry_args, member)
static const struct opt table[] = {
    {"wait", 0, OPT_FLAG, NULL, AT(wait), "stream its output and exit with its exit code"},
    {"payload", 0, OPT_TEXT, "JSON|@FILE", AT(payload), "run with this instead of its own payload"},
    MANY_OPTS(AT(many)),
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "retry", "ID... [options]   or   belfry retry --filter KEY=VALUE,...|--all",
    "Runs a finished execution, or the newest one of a job, once more. Prints the id of the new\n"
    "execution. With --payload only that one runs with it; the job keeps its own. With --filter\n"
    "or --all: of the executions that fit, those that failed for good.",
    table, COUNT_OF(table)};

static enum rc retry(struct cli *cli, const void *arg, struct err *err)
{
    const struct retry_args *args = arg;
    struct cli_target target;
    struct str id;
    struct str body;
    if (many_is_meant(cli, &args->many)) {
        TRY(many_refuses(args->payload != NULL, "--payload", err));
        TRY(many_refuses(args->wait, "--wait", err));
        return many_act(cli, "retry", true, &args->many, err);
    }
    TRY(api_target(cli, &target, err));
    TRY(api_execution_of(cli, &target, &id, err));
    struct str path = arena_printf(&cli->arena, "/executions/%.*s/retry", STR_ARG(id));
    TRY(follow_retry_body(cli, args->payload, &body, err));
    return follow_new(cli, path, body, args->wait, err);
}

int retry_command(int argc, char **argv)
{
    struct retry_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, retry);
}
