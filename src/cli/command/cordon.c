/* cordon.c - `belfry cordon` and `belfry uncordon`. */
#include "cli/api.h"
#include "cli/commands.h"

struct cordon_args {
    struct cli_common common;
    const char *reason;
};

#define AT(member) offsetof(struct cordon_args, member)
static const struct opt cordon_table[] = {
    {"reason", 0, OPT_TEXT, "TEXT", AT(reason), "kept with the worker, and told to those who wait"},
    CLI_COMMON_OPTS,
};

static const struct opt uncordon_table[] = {CLI_COMMON_OPTS};

static const struct opts cordon_opts = {
    "cordon", "WORKER [options]",
    "Gives a worker nothing new until `belfry uncordon`, also after a restart of server or worker.\n"
    "What it runs goes on, and its process stays: `belfry show WORKER` says when it is idle.\n"
    "WORKER is an id, a part of it, or the name of one worker.",
    cordon_table, COUNT_OF(cordon_table)};

static const struct opts uncordon_opts = {
    "uncordon", "WORKER [options]",
    "Lets a cordoned worker take work again. WORKER is an id, a part of it, or the name of one\n"
    "worker.",
    uncordon_table, COUNT_OF(uncordon_table)};

static enum rc change(struct cli *cli, const char *action, const char *reason, struct err *err)
{
    struct str id;
    struct json answer;
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "needs one worker: an id, a part of it, or a name");
    TRY(api_worker_id(cli, str_c(cli->words.items[0]), &id, err));
    struct str path = arena_printf(&cli->arena, "/workers/%.*s/%s", STR_ARG(id), action);
    TRY(api_call(cli, "POST", path, api_reason(reason, &cli->arena), &answer, err));
    api_print_status(cli, id, &answer);
    return RC_OK;
}

static enum rc cordon(struct cli *cli, const void *arg, struct err *err)
{
    const struct cordon_args *args = arg;
    return change(cli, "cordon", args->reason, err);
}

static enum rc uncordon(struct cli *cli, const void *arg, struct err *err)
{
    (void)arg;
    return change(cli, "uncordon", NULL, err);
}

int cordon_command(int argc, char **argv)
{
    struct cordon_args args = {0};
    return cli_main(&cordon_opts, argc, argv, &args.common, cordon);
}

int uncordon_command(int argc, char **argv)
{
    struct cli_common args = {0};
    return cli_main(&uncordon_opts, argc, argv, &args, uncordon);
}
