#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"

#include <inttypes.h>

enum {
    QUERY_BYTES_MAX = 1 << 12,
    JSON_BYTES_MAX = 1 << 30,
};

struct logs_args {
    struct cli_common common;
    bool follow;
    unsigned stream; /* index into stream_names */
    int64_t attempt;
};

#define STREAMS "all|stdout|stderr|note"
static const char *const stream_names[] = {NULL, "stdout", "stderr", "note"};

#define AT(member) offsetof(struct logs_args, member)
static const struct opt table[] = {
    {"follow", 'f', OPT_FLAG, NULL, AT(follow), "go on until the execution is over"},
    {"stream", 0, OPT_CHOICE, STREAMS, AT(stream), "only this one; notes are the worker's (all)"},
    {"attempt", 0, OPT_NUMBER, "N", AT(attempt), "only of this attempt (all)"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "logs", "ID [-f] [options]",
    "Prints the output of an execution, or of the newest execution of a job. When following,\n"
    "what the command wrote to stderr, and notes, go to stderr.",
    table, COUNT_OF(table)};

static struct str logs_path(const struct logs_args *args, struct str id, struct arena *arena)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    api_add_param(&query, "stream", stream_names[args->stream]);
    if (args->attempt > 0)
        api_add_param(&query, "attempt", arena_printf(arena, "%" PRId64, args->attempt).ptr);
    return arena_printf(arena, "/executions/%.*s/logs%s%.*s", STR_ARG(id), query.len > 0 ? "?" : "",
                        STR_ARG(buf_str(&query)));
}

static enum rc print_piece(void *arg, struct str piece, struct err *err)
{
    (void)arg;
    cli_print(piece);
    return cli_written(err);
}

static enum rc keep_piece(void *arg, struct str piece, struct err *err)
{
    struct buf *text = arg;
    buf_add(text, piece);
    if (!text->overflow)
        return RC_OK;
    return err_set(err, RC_TOO_LARGE, "more output than fits into one JSON document");
}

/* The text may be anything, so it becomes JSON only here; bytes that are not UTF-8 are replaced. */
static enum rc print_json(struct cli *cli, struct str id, struct str path, struct err *err)
{
    CLEANUP(buf_free) struct buf text = BUF(JSON_BYTES_MAX);
    CLEANUP(buf_free) struct buf out = BUF(JSON_BYTES_MAX);
    struct api_stream stream = {
        .path = path, .accept = STR("text/plain"), .on_data = keep_piece, .arg = &text};
    TRY(api_stream(cli, &stream, err));
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_str(&w, "execution_id", id);
    json_put_str(&w, "text", buf_str(&text));
    json_close(&w);
    if (out.overflow)
        return err_set(err, RC_TOO_LARGE, "more output than fits into one JSON document");
    cli_print_line(buf_str(&out));
    return RC_OK;
}

/* Following is patient with a server that goes away; one that was never there is told at once. */
static enum rc check_reachable(struct cli *cli, struct str id, struct err *err)
{
    struct json ignored;
    return api_get(cli, arena_printf(&cli->arena, "/executions/%.*s", STR_ARG(id)), &ignored, err);
}

static enum rc logs(struct cli *cli, const void *arg, struct err *err)
{
    const struct logs_args *args = arg;
    struct cli_target target;
    struct str id;
    TRY(api_target(cli, &target, err));
    TRY(api_execution_of(cli, &target, &id, err));
    if (args->follow) {
        TRY(check_reachable(cli, id, err));
        struct follow follow = {
            .execution_id = id,
            .stream = stream_names[args->stream],
            .attempt = args->attempt,
            .print = cli->format == CLI_JSON ? FOLLOW_JSON : FOLLOW_TEXT,
        };
        return follow_output(cli, &follow, err);
    }
    struct str path = logs_path(args, id, &cli->arena);
    if (cli->format == CLI_JSON)
        return print_json(cli, id, path, err);
    struct api_stream stream = {.path = path, .accept = STR("text/plain"), .on_data = print_piece};
    return api_stream(cli, &stream, err);
}

int logs_command(int argc, char **argv)
{
    struct logs_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, logs);
}
