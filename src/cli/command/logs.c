#include "cli/api.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/view.h"

#include <inttypes.h>

enum {
    QUERY_BYTES_MAX = 1 << 12,
    PAGE_LINES = 10000,
    PAGE_BYTES_MAX = 32 << 20, /* of one answer by lines */
};

struct logs_args {
    struct cli_common common;
    bool follow;
    unsigned stream; /* index into stream_names */
    int64_t attempt;
    int64_t tail; /* -1: all */
    int64_t runs; /* 0: one execution */
};

#define STREAMS "all|stdout|stderr|note"
static const char *const stream_names[] = {NULL, "stdout", "stderr", "note"};

#define AT(member) offsetof(struct logs_args, member)
static const struct opt table[] = {
    {"follow", 'f', OPT_FLAG, NULL, AT(follow), "go on until the execution is over"},
    {"stream", 0, OPT_CHOICE, STREAMS, AT(stream), "only this one; notes are the worker's (all)"},
    {"attempt", 0, OPT_NUMBER, "N", AT(attempt), "only of this attempt (all)"},
    {"tail", 0, OPT_NUMBER, "N", AT(tail), "only the last lines, at most 10000 (all)"},
    {"runs", 0, OPT_NUMBER, "N", AT(runs), "of a job: the last lines of so many of its runs"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "logs", "ID [-f] [options]",
    "Prints the output of an execution, or of the newest execution of a job. When following,\n"
    "what the command wrote to stderr, and notes, go to stderr. With -o json each line is an\n"
    "object of its own, with its number, time and stream.",
    table, COUNT_OF(table)};

static void add_number(struct buf *query, const char *name, int64_t value, struct arena *arena)
{
    api_add_param(query, name, arena_printf(arena, "%" PRId64, value).ptr);
}

/* by_lines: from there on, or (empty) from where the user wants to begin. */
static struct str logs_path(const struct logs_args *args, struct str id, bool by_lines,
                            struct str from, struct arena *arena)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    if (by_lines) {
        api_add_param(&query, "format", "ndjson");
        add_number(&query, "limit", PAGE_LINES, arena);
    }
    api_add_param(&query, "stream", stream_names[args->stream]);
    if (args->attempt > 0)
        add_number(&query, "attempt", args->attempt, arena);
    if (from.len > 0)
        api_add_param(&query, "from", arena_printf(arena, "%.*s", STR_ARG(from)).ptr);
    else if (args->tail >= 0)
        add_number(&query, "tail", args->tail, arena);
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
    return err_set(err, RC_TOO_LARGE, "an answer of more than %d bytes", PAGE_BYTES_MAX);
}

/* One answer by lines: each is printed as it is, or (as text) what it says; the last one says where
 * to go on. */
static enum rc get_lines(struct cli *cli, struct str path, struct buf *page, struct err *err)
{
    struct api_stream stream = {
        .path = path, .accept = STR("application/x-ndjson"), .on_data = keep_piece, .arg = page};
    buf_clear(page);
    return api_stream(cli, &stream, err);
}

static enum rc print_lines(struct cli *cli, struct buf *page, struct json *ret_end, struct err *err)
{
    struct str rest = buf_str(page);
    struct str line = {0};
    struct str next = str_cut(&rest, '\n');
    for (; rest.len > 0; next = str_cut(&rest, '\n'))
        cli_print_line(next);
    line = next;
    if (json_parse_by(&json_from_server, arena_str(&cli->arena, line), &cli->arena, ret_end, err))
        return err->rc = RC_CORRUPT;
    return cli_written(err);
}

/* Page by page, until there is nothing more for now. */
static enum rc print_json(struct cli *cli, const struct logs_args *args, struct str id,
                          struct err *err)
{
    CLEANUP(buf_free) struct buf page = BUF(PAGE_BYTES_MAX);
    struct str from = {0};
    bool more = true;
    while (more) {
        struct json end;
        TRY(get_lines(cli, logs_path(args, id, true, from, &cli->arena), &page, err));
        TRY(print_lines(cli, &page, &end, err));
        const struct json *member = json_get(&end, STR("more"));
        more = member != NULL && member->kind == JSON_BOOL && member->boolean;
        from = api_text(&end, STR("next_from"));
    }
    return RC_OK;
}

/* As text, each run below a line with its id; made harmless for a terminal, as other tables are. */
static enum rc print_run_line(struct cli *cli, struct str line, struct str *id, struct err *err)
{
    struct json object;
    if (json_parse_by(&json_from_server, line, &cli->arena, &object, err))
        return err->rc = RC_CORRUPT;
    struct str of = api_text(&object, STR("execution_id"));
    const struct json *text = json_get(&object, STR("text"));
    if (!str_eq(of, *id)) {
        cli_print_line(
            arena_printf(&cli->arena, "%s==> %.*s <==", id->len > 0 ? "\n" : "", STR_ARG(of)));
        *id = of;
    }
    if (text != NULL)
        cli_print_line(view_one_line(api_text(&object, STR("text")), &cli->arena));
    return cli_written(err);
}

static enum rc print_runs(struct cli *cli, const struct logs_args *args, struct str id,
                          struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    CLEANUP(buf_free) struct buf page = BUF(PAGE_BYTES_MAX);
    add_number(&query, "runs", args->runs, &cli->arena);
    api_add_param(&query, "stream", stream_names[args->stream]);
    if (args->tail >= 0)
        add_number(&query, "tail", args->tail, &cli->arena);
    struct str path =
        arena_printf(&cli->arena, "/jobs/%.*s/logs?%.*s", STR_ARG(id), STR_ARG(buf_str(&query)));
    TRY(get_lines(cli, path, &page, err));
    struct str rest = arena_str(&cli->arena, buf_str(&page));
    struct str run = {0};
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        if (cli->format == CLI_JSON)
            cli_print_line(line);
        else
            TRY(print_run_line(cli, line, &run, err));
    }
    return cli_written(err);
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
    if (args->runs > 0 && (args->follow || args->attempt > 0))
        return err_set(err, RC_INVALID, "--runs goes with neither --follow nor --attempt");
    TRY(api_target(cli, &target, err));
    if (args->runs > 0 && target.is_execution)
        return err_set(err, RC_INVALID, "--runs is for a job, not for one execution");
    if (args->runs > 0)
        return print_runs(cli, args, target.id, err);
    TRY(api_execution_of(cli, &target, &id, err));
    if (args->follow) {
        TRY(check_reachable(cli, id, err));
        struct follow follow = {
            .execution_id = id,
            .stream = stream_names[args->stream],
            .attempt = args->attempt,
            .tail = args->tail,
            .print = cli->format == CLI_JSON ? FOLLOW_JSON : FOLLOW_TEXT,
        };
        return follow_output(cli, &follow, err);
    }
    if (cli->format == CLI_JSON)
        return print_json(cli, args, id, err);
    struct str path = logs_path(args, id, false, STR(""), &cli->arena);
    struct api_stream stream = {.path = path, .accept = STR("text/plain"), .on_data = print_piece};
    return api_stream(cli, &stream, err);
}

int logs_command(int argc, char **argv)
{
    struct logs_args args = {.tail = -1};
    return cli_main(&opts, argc, argv, &args.common, logs);
}
