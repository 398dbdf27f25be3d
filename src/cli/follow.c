#include "cli/follow.h"
#include "cli/api.h"
#include "cli/patience.h"
#include "cli/view.h"
#include "wire/http/sse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    EVENT_BYTES_MAX = 32 << 20, /* an attempt's whole output twice over */
    EVENT_ID_MAX = 64,
    QUERY_BYTES_MAX = 1 << 12,
    SIGNAL_EXIT = 128,  /* as shells count */
    TIMEOUT_EXIT = 124, /* as timeout(1) ends */
};

struct follower {
    enum follow_print print;
    struct sse_reader reader;
    struct arena arena; /* of one event */
    struct buf last_id; /* of the newest event that was printed */
    struct patience patience;
    bool ended;     /* the execution is final */
    struct err err; /* the first event that could not be read or printed */
};

static void follower_end(struct follower *f)
{
    sse_reader_free(&f->reader);
    arena_free(&f->arena);
    buf_free(&f->last_id);
}

/* A stderr that was closed from the beginning is the user's wish; one whose reader went away is
 * not. */
static enum rc print_text(const struct json *chunk, struct err *err)
{
    struct str text = api_text(chunk, STR("text"));
    if (str_eq(api_text(chunk, STR("stream")), STR("stdout")))
        cli_print(text);
    else if (fprintf(stderr, "%.*s", STR_ARG(text)) < 0 && errno == EPIPE)
        return err_set(err, RC_IO, "cannot write: %s", strerror(EPIPE));
    return RC_OK;
}

static enum rc print_event(struct follower *f, struct str event, struct err *err)
{
    struct json data;
    arena_reset(&f->arena);
    if (f->print == FOLLOW_JSON) {
        cli_print_line(event);
    } else {
        if (json_parse_by(&json_from_server, event, &f->arena, &data, err))
            return err->rc = RC_CORRUPT;
        TRY(print_text(&data, err));
    }
    cli_flush(); /* a user is watching */
    return cli_written(err);
}

static void on_event(void *arg, const struct sse_event *event)
{
    struct follower *f = arg;
    if (f->err.rc != RC_OK)
        return;
    f->patience.failures = 0;
    buf_clear(&f->last_id);
    buf_add(&f->last_id, event->id);
    if (str_eq(event->event, STR("end")))
        f->ended = true;
    bool printed = str_eq(event->event, STR("log")) || str_eq(event->event, STR("line"));
    if (printed && f->print != FOLLOW_QUIET)
        (void)print_event(f, event->data, &f->err); /* on_data asks for it */
}

static enum rc on_data(void *arg, struct str piece, struct err *err)
{
    struct follower *f = arg;
    if (sse_feed(&f->reader, piece, on_event, f, err))
        return err->rc = RC_CORRUPT;
    *err = f->err;
    return err->rc;
}

/* Says once that there is a pause, and waits. False when there is no point in another try. */
static bool wait_for_server(struct follower *f, enum rc rc)
{
    bool first = f->patience.failures == 0;
    if (first && (rc == RC_UNREACHABLE || rc == RC_TIMEOUT))
        fprintf(stderr, "belfry: lost the server, trying again\n");
    return patience_wait(&f->patience, rc);
}

/* One connection's worth. A stream that ends without saying so was cut off. */
static enum rc follow_once(struct cli *cli, struct follower *f, struct str path, struct err *err)
{
    struct api_stream stream = {
        .path = path,
        .accept = STR(SSE_TYPE),
        .last_event_id = buf_str(&f->last_id),
        .on_data = on_data,
        .arg = f,
    };
    f->reader = sse_reader(EVENT_BYTES_MAX);
    enum rc rc = api_stream(cli, &stream, err);
    sse_reader_free(&f->reader);
    if (rc == RC_CORRUPT || rc == RC_IO)
        return err_note(err, "cannot follow the output");
    if (rc == RC_OK && !f->ended)
        return err_set(err, RC_UNREACHABLE, "%.*s broke off", STR_ARG(cli->url));
    return f->ended ? RC_OK : rc;
}

static struct str follow_path(const struct follow *follow, struct arena *arena)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    api_add_param(&query, "follow", "true");
    if (follow->print == FOLLOW_JSON)
        api_add_param(&query, "format", "ndjson");
    api_add_param(&query, "stream", follow->stream);
    if (follow->tail >= 0)
        api_add_param(&query, "tail", arena_printf(arena, "%" PRId64, follow->tail).ptr);
    if (follow->attempt > 0)
        api_add_param(&query, "attempt", arena_printf(arena, "%" PRId64, follow->attempt).ptr);
    return arena_printf(arena, "/executions/%.*s/logs?%.*s", STR_ARG(follow->execution_id),
                        STR_ARG(buf_str(&query)));
}

enum rc follow_output(struct cli *cli, const struct follow *follow, struct err *err)
{
    CLEANUP(follower_end)
    struct follower f = {
        .print = follow->print,
        .last_id = BUF(EVENT_ID_MAX),
    };
    struct str path = follow_path(follow, &cli->arena);
    enum rc rc;
    do
        rc = follow_once(cli, &f, path, err);
    while (rc != RC_OK && wait_for_server(&f, rc));
    return rc;
}

/* ---- how it ended */

static const struct json *last_attempt(const struct json *execution)
{
    const struct json *attempts = json_get(execution, STR("attempts"));
    if (attempts == NULL || attempts->kind != JSON_ARRAY || attempts->count == 0)
        return NULL;
    return &attempts->items[attempts->count - 1];
}

static bool get_int(const struct json *object, struct str key, int64_t *ret_value)
{
    const struct json *value = json_get(object, key);
    if (value == NULL || value->kind != JSON_INT)
        return false;
    *ret_value = value->integer;
    return true;
}

static int exit_code_of(const struct json *execution)
{
    struct str status = api_text(execution, STR("status"));
    const struct json *attempt = last_attempt(execution);
    int64_t code;
    if (str_eq(status, STR("completed")))
        return CLI_OK;
    if (str_eq(status, STR("timeout")))
        return TIMEOUT_EXIT;
    if (!str_eq(status, STR("failed")))
        return CLI_FAILED;
    if (get_int(attempt, STR("exit_code"), &code) && code > 0 && code <= 255)
        return (int)code;
    if (get_int(attempt, STR("signal"), &code) && code > 0 && code < SIGNAL_EXIT)
        return SIGNAL_EXIT + (int)code;
    return CLI_FAILED;
}

/* On stderr: stdout is the command's own. */
static void say_why(struct cli *cli, const struct json *execution)
{
    struct str error = view_one_line(api_text(execution, STR("error")), &cli->arena);
    struct str status = api_text(execution, STR("status"));
    if (str_eq(status, STR("completed")))
        return;
    fprintf(stderr, "belfry: %.*s %.*s%s%.*s\n", STR_ARG(api_text(execution, STR("execution_id"))),
            STR_ARG(status), error.len > 0 ? ": " : "", STR_ARG(error));
}

enum rc follow_to_exit(struct cli *cli, struct str execution_id, struct err *err)
{
    bool as_json = cli->format == CLI_JSON;
    struct follow follow = {
        .execution_id = execution_id,
        .tail = -1,
        .print = as_json ? FOLLOW_QUIET : FOLLOW_TEXT,
    };
    TRY(follow_output(cli, &follow, err));

    struct str path = arena_printf(&cli->arena, "/executions/%.*s", STR_ARG(execution_id));
    struct patience patience = {0};
    struct json execution;
    enum rc rc;
    do
        rc = api_get(cli, path, &execution, err);
    while (rc != RC_OK && patience_wait(&patience, rc));
    TRY(rc);
    if (as_json)
        cli_print_line(execution.raw);
    say_why(cli, &execution);
    cli->exit_code = exit_code_of(&execution);
    return RC_OK;
}

enum rc follow_retry_body(struct cli *cli, const char *payload, struct str *ret_body,
                          struct err *err)
{
    struct str json;
    *ret_body = STR("");
    if (payload == NULL)
        return RC_OK;
    TRY(cli_payload(cli, payload, &json, err));
    *ret_body = arena_printf(&cli->arena, "{\"payload\":%.*s}", STR_ARG(json));
    return RC_OK;
}

enum rc follow_new(struct cli *cli, struct str path, struct str body, bool wait, struct err *err)
{
    struct json answer;
    TRY(api_call(cli, "POST", path, body, &answer, err));
    struct str execution_id = api_text(&answer, STR("execution_id"));
    if (wait)
        return follow_to_exit(cli, execution_id, err);
    cli_print_line(cli->format == CLI_JSON ? answer.raw : execution_id);
    return RC_OK;
}
