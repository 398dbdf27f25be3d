#include "cli/api.h"
#include "cli/submit/batch.h"
#include "cli/submit/submit.h"

#include <stdio.h>

enum { FILE_BYTES_MAX = 1 << 30 };

static void report(struct cli *cli, size_t line, const struct err *err)
{
    fprintf(stderr, "line %zu: %s\n%.*s", line, err->text, STR_ARG(cli->details));
    cli->details = STR("");
    cli->exit_code = CLI_FAILED;
}

static void print_result(void *arg, size_t line, const struct json *result, const struct err *err)
{
    struct cli *cli = arg;
    if (err != NULL)
        report(cli, line, err);
    else
        cli_print_line(cli->format == CLI_JSON ? result->raw : api_text(result, STR("job_id")));
}

/* One document per line. A line that is not even JSON is reported here: in a batch it would spoil
 * the others. */
static enum rc submit_lines(struct cli *cli, struct str text, struct err *err)
{
    CLEANUP(batch_free) struct batch *batch = batch_new(cli, print_result, cli);
    CLEANUP(arena_free) struct arena arena = {0}; /* of the line being checked */
    for (size_t number = 1; text.ptr != NULL; number++) {
        struct str line = str_trim(str_cut(&text, '\n'));
        struct json job;
        struct err wrong;
        if (line.len == 0)
            continue;
        arena_reset(&arena);
        if (json_parse_by(&json_from_user, line, &arena, &job, &wrong))
            report(cli, number, &wrong);
        else
            TRY(batch_add(batch, number, line, err));
    }
    return batch_send(batch, err);
}

/* The file describes the jobs, so options that describe one have no place beside it. */
static enum rc check_alone(struct cli *cli, const struct submit_args *args, struct err *err)
{
    if (submit_describes(cli, args) || cli->words.count > 0)
        return err_set(err, RC_INVALID,
                       "with -f the file describes the job, and nothing else does");
    return RC_OK;
}

static bool is_object(struct str text, struct arena *arena)
{
    struct json value;
    return json_parse_by(&json_from_user, text, arena, &value, NULL) == RC_OK &&
           value.kind == JSON_OBJECT;
}

/* True when the first or the last line is a document of its own: a broken document over several
 * lines begins and ends otherwise. */
static bool looks_like_lines(struct str text, struct arena *arena)
{
    struct str rest = str_trim(text);
    struct str first = str_cut(&rest, '\n');
    struct str last = first;
    while (rest.ptr != NULL)
        last = str_cut(&rest, '\n');
    return is_object(first, arena) || is_object(last, arena);
}

enum rc submit_file(struct cli *cli, const struct submit_args *args, struct err *err)
{
    struct str text;
    struct json whole;
    TRY(check_alone(cli, args, err));
    TRY(cli_read_file(cli, args->file, FILE_BYTES_MAX, &text, err));
    enum rc rc = json_parse_by(&json_from_user, text, &cli->arena, &whole, err);
    if (rc == RC_OK) {
        rc = submit_one(cli, args, text, err);
    } else if (looks_like_lines(text, &cli->arena)) {
        if (args->wait)
            return err_set(err, RC_INVALID, "--wait follows one job; %s has many", args->file);
        rc = submit_lines(cli, text, err);
    } else {
        err_note(err, "%s", args->file);
    }
    /* A wrong file is not a matter of usage. */
    return rc == RC_INVALID ? (err->rc = RC_CORRUPT) : rc;
}
