/* pause.c - `belfry pause` and `belfry resume`. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/many.h"

struct pause_args {
    struct cli_common common;
    const char *reason;
    struct many_args many;
};

#define AT(member) offsetof(struct pause_args, member)
static const struct opt table[] = {
    {"reason", 0, OPT_TEXT, "TEXT", AT(reason), "kept with the job"},
    MANY_OPTS(AT(many)),
    CLI_COMMON_OPTS,
};

static const struct opts pause_opts = {
    "pause", "JOB... [options]   or   belfry pause --filter KEY=VALUE,...|--all",
    "Keeps a job from running until `belfry resume`, also after a restart of the server. What runs\n"
    "goes on. Slots of its schedule that pass meanwhile are recorded as skipped, and not made up.",
    table, COUNT_OF(table)};

static const struct opts resume_opts = {
    "resume", "JOB... [options]   or   belfry resume --filter KEY=VALUE,...|--all",
    "Lets a paused job run again, with the next slot of its schedule. A job that runs once, and\n"
    "whose time has passed meanwhile, runs now.",
    table, COUNT_OF(table)};

static enum rc change(struct cli *cli, const void *arg, const char *action, struct err *err)
{
    const struct pause_args *args = arg;
    struct cli_target target;
    struct json answer;
    if (many_is_meant(cli, &args->many)) {
        TRY(many_refuses(args->reason != NULL, "--reason", err));
        return many_act(cli, action, false, &args->many, err);
    }
    TRY(api_target(cli, &target, err));
    TRY(cli_is_job(&target, action, err));
    struct str path = arena_printf(&cli->arena, "/jobs/%.*s/%s", STR_ARG(target.id), action);
    TRY(api_call(cli, "POST", path, api_reason(args->reason, &cli->arena), &answer, err));
    api_print_status(cli, target.id, &answer);
    return RC_OK;
}

static enum rc pause_run(struct cli *cli, const void *args, struct err *err)
{
    return change(cli, args, "pause", err);
}

static enum rc resume_run(struct cli *cli, const void *args, struct err *err)
{
    return change(cli, args, "resume", err);
}

int pause_command(int argc, char **argv)
{
    struct pause_args args = {0};
    return cli_main(&pause_opts, argc, argv, &args.common, pause_run);
}

int resume_command(int argc, char **argv)
{
    struct pause_args args = {0};
    return cli_main(&resume_opts, argc, argv, &args.common, resume_run);
}
