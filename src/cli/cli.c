#include "cli/cli.h"
#include "loop/file.h"
#include "loop/usage.h"
#include "wire/json/json.h"
#include "wire/json/json_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD_BYTES_MAX = 1 << 26 };

#define URL_DEFAULT "http://127.0.0.1:7420"

static int write_errno; /* of the first write to stdout that failed; 0: none did */

static void note_write(bool written)
{
    if (!written && write_errno == 0)
        write_errno = errno;
}

void cli_print(struct str text)
{
    if (text.len > 0)
        note_write(fwrite(text.ptr, 1, text.len, stdout) == text.len);
}

void cli_print_line(struct str text)
{
    cli_print(text);
    note_write(putchar('\n') != EOF);
}

void cli_flush(void)
{
    note_write(fflush(stdout) == 0);
}

enum rc cli_written(struct err *err)
{
    if (!ferror(stdout) && write_errno == 0)
        return RC_OK;
    return err_set(err, RC_IO, "cannot write: %s", strerror(write_errno));
}

static int exit_code(const struct cli *cli, enum rc rc)
{
    switch (rc) {
    case RC_OK: return cli->exit_code;
    case RC_INVALID:
    case RC_UNSUPPORTED: return CLI_USAGE;
    case RC_NOT_FOUND: return CLI_NOT_FOUND;
    case RC_DENIED: return CLI_DENIED;
    case RC_UNREACHABLE:
    case RC_TIMEOUT: return CLI_UNREACHABLE;
    default: return CLI_FAILED;
    }
}

/* Says why, and returns the exit code that goes with it. */
static int fail(const struct cli *cli, const struct opts *opts, const struct err *err)
{
    int code = exit_code(cli, err->rc);
    if (code == CLI_USAGE && !cli->refused)
        return usage_refuse(opts, err);
    fprintf(stderr, "belfry %s: %s\n%.*s", opts->command, err->text, STR_ARG(cli->details));
    return code;
}

static void find_url(struct cli *cli, const char *flag)
{
    const char *url = flag != NULL ? flag : getenv("BELFRY_URL");
    cli->url = url != NULL && url[0] != '\0' ? str_c(url) : STR(URL_DEFAULT);
    while (cli->url.len > 0 && cli->url.ptr[cli->url.len - 1] == '/')
        cli->url.len--;
}

/* A key that was asked for must be there. The usual one may be missing: then the server decides,
 * and a server that cannot be reached is the better message. */
static enum rc find_token(struct cli *cli, const char *flag, struct err *err)
{
    enum rc rc = file_read_key(flag, "admin.key", &cli->arena, &cli->token, err);
    if (rc == RC_NOT_FOUND)
        return flag == NULL ? RC_OK : (err->rc = RC_INVALID);
    return rc;
}

enum rc cli_start(struct cli *cli, const struct cli_common *args, struct err *err)
{
    cli->format = (enum cli_format)args->format;
    find_url(cli, args->url);
    return find_token(cli, args->token_file, err);
}

/* Output that could not be written must not look like success. */
static enum rc finish(struct err *err)
{
    cli_flush();
    return cli_written(err);
}

void cli_end(struct cli *cli)
{
    arena_free(&cli->arena);
}

int cli_main(const struct opts *opts, int argc, char **argv, struct cli_common *args, cli_run *run)
{
    CLEANUP(cli_end) struct cli cli = {0};
    struct err err = {0};
    enum rc rc = opts_parse(opts, argc, argv, args, &cli.words, &cli.arena, &err);
    if (rc == RC_OK && args->help)
        return usage_help(opts, NULL);
    if (rc == RC_OK)
        rc = cli_start(&cli, args, &err);
    if (rc == RC_OK)
        rc = run(&cli, args, &err);
    if (rc == RC_OK)
        rc = finish(&err);
    return rc == RC_OK ? cli.exit_code : fail(&cli, opts, &err);
}

enum rc cli_read_file(struct cli *cli, const char *path, size_t max_bytes, struct str *ret_text,
                      struct err *err)
{
    enum rc rc = file_read(path, max_bytes, &cli->arena, ret_text, err);
    return rc == RC_NOT_FOUND ? (err->rc = RC_IO) : rc;
}

enum rc cli_payload(struct cli *cli, const char *arg, struct str *ret_json, struct err *err)
{
    struct str text = str_c(arg);
    if (arg[0] == '@')
        TRY(cli_read_file(cli, arg + 1, PAYLOAD_BYTES_MAX, &text, err));
    if (json_check(text, JSON_DEPTH_MAX, err))
        return err_note(err, "--payload is not JSON");
    *ret_json = str_trim(text);
    return RC_OK;
}

enum rc cli_is_job(const struct cli_target *target, const char *action, struct err *err)
{
    if (!target->is_execution)
        return RC_OK;
    return err_set(err, RC_INVALID, "%s takes the id of a job, and %.*s is an execution", action,
                   STR_ARG(target->id));
}

enum rc cli_no_words(const struct cli *cli, struct err *err)
{
    if (cli->words.count == 0)
        return RC_OK;
    return err_set(err, RC_INVALID, "unexpected argument '%s'", cli->words.items[0]);
}
