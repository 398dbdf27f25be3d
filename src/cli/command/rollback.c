/* rollback.c - gives a job a definition again that it had (`belfry history` lists them). */
#include "cli/api.h"
#include "cli/commands.h"

enum { BODY_BYTES_MAX = 256 };

static const struct opt table[] = {CLI_COMMON_OPTS};

static const struct opts rollback_opts = {
    "rollback", "JOB VERSION [options]",
    "Gives a job the definition again that it had with this version: all of it, so what was added\n"
    "since is gone. It is an edit like any other, and makes a new version.",
    table, COUNT_OF(table)};

static enum rc roll_back(struct cli *cli, const void *arg, struct err *err)
{
    struct cli_target target;
    struct json answer;
    uint64_t version;
    (void)arg;
    if (cli->words.count != 2 || !str_to_u64(str_c(cli->words.items[1]), &version))
        return err_set(err, RC_INVALID, "a job and the number of a version are needed");
    cli->words.count = 1; /* the target is what is left */
    TRY(api_target(cli, &target, err));
    TRY(cli_is_job(&target, "rollback", err));
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    json_put_int(&w, "version", (int64_t)version);
    json_close(&w);
    struct str path = arena_printf(&cli->arena, "/jobs/%.*s/rollback", STR_ARG(target.id));
    TRY(api_call(cli, "POST", path, buf_str(&body), &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    const struct json *now = json_get(&answer, STR("version"));
    cli_print_line(arena_printf(&cli->arena, "%.*s has version %lld", STR_ARG(target.id),
                                now == NULL ? 0LL : (long long)now->integer));
    return RC_OK;
}

int rollback_command(int argc, char **argv)
{
    struct cli_common args = {0};
    return cli_main(&rollback_opts, argc, argv, &args, roll_back);
}
