#include "cli/api.h"
#include "base/id.h"
#include "base/when.h"
#include "cli/view.h"
#include "wire/client/client.h"
#include "wire/http/http_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define API_PREFIX "/api/v1"

enum {
    TRACE_VALUE_BYTES_MAX = 4096, /* of a variable that is handed on */
    CALL_TIMEOUT_MS = 30000,
    STREAM_IDLE_MS = 60000, /* a server that has nothing to say says so every 15 s */
    PAGE_ITEMS_MAX = 1000,  /* the most that the server gives */
    QUERY_BYTES_MAX = 1 << 16,
    DETAILS_BYTES_MAX = 1 << 16,
    REASON_BYTES_MAX = 1 << 18, /* more than a server takes; a command line holds it */
};

enum rc api_explain(struct cli *cli, const struct cli_target *target, struct json *ret_json,
                    struct err *err)
{
    struct str path =
        arena_printf(&cli->arena, "/%s/%.*s/explain", target->is_execution ? "executions" : "jobs",
                     STR_ARG(target->id));
    return api_get(cli, path, ret_json, err);
}

struct str api_text(const struct json *object, struct str key)
{
    const struct json *value = json_get(object, key);
    return value != NULL && value->kind == JSON_STRING ? value->string : STR("");
}

static enum rc status_rc(int status)
{
    switch (status) {
    case 400: return RC_INVALID;
    case 401:
    case 403: return RC_DENIED;
    case 404: return RC_NOT_FOUND;
    case 409: return RC_CONFLICT;
    case 412: return RC_STALE;
    case 413: return RC_TOO_LARGE;
    case 429:
    case 503: return RC_BUSY;
    case 507: return RC_FULL;
    default: return RC_IO;
    }
}

/* A line for each field the server complains about, unless its sentence says the same already. */
static void add_details(struct cli *cli, const struct json *problem, struct str detail)
{
    const struct json *errors = json_get(problem, STR("errors"));
    if (errors == NULL || errors->kind != JSON_ARRAY)
        return;
    CLEANUP(buf_free) struct buf lines = BUF(DETAILS_BYTES_MAX);
    for (size_t i = 0; i < errors->count; i++) {
        struct str field = view_one_line(api_text(&errors->items[i], STR("field")), &cli->arena);
        struct str message =
            view_one_line(api_text(&errors->items[i], STR("message")), &cli->arena);
        if (errors->count == 1 && memmem(detail.ptr, detail.len, message.ptr, message.len) != NULL)
            continue;
        buf_printf(&lines, "  %.*s: %.*s\n", STR_ARG(field), STR_ARG(message));
    }
    cli->details = arena_str(&cli->arena, buf_str(&lines));
}

void api_print_status(struct cli *cli, struct str id, const struct json *answer)
{
    struct str status = api_text(answer, STR("status"));
    cli_print_line(cli->format == CLI_JSON
                       ? answer->raw
                       : arena_printf(&cli->arena, "%.*s %.*s", STR_ARG(id), STR_ARG(status)));
}

enum rc api_problem(struct cli *cli, int status, const struct json *problem, struct err *err)
{
    struct str detail = view_one_line(api_text(problem, STR("detail")), &cli->arena);
    cli->refused = true;
    add_details(cli, problem, detail);
    if (status == 401 && cli->token.len == 0)
        return err_set(err, RC_DENIED,
                       "no key: give --token-file or BELFRY_TOKEN, or set BELFRY_DATA to the "
                       "server's data directory");
    if (detail.len == 0)
        return err_set(err, status_rc(status), "%.*s answered %d", STR_ARG(cli->url), status);
    return err_set(err, status_rc(status), "%.*s", STR_ARG(detail));
}

static void add_variable(struct http_call *call, struct http_header *headers, const char *name,
                         const char *variable)
{
    struct str value = str_c(getenv(variable));
    if (value.len > 0 && value.len <= TRACE_VALUE_BYTES_MAX && http_is_header_text(value))
        headers[call->header_count++] = (struct http_header){str_c(name), value};
}

/* A command that is part of a trace hands it on: what it submits belongs to that trace, too. */
static struct http_call in_trace(struct cli *cli, const struct http_call *call)
{
    struct http_call traced = *call;
    struct http_header *headers =
        ARENA_ARRAY(&cli->arena, struct http_header, call->header_count + 2);
    for (size_t i = 0; i < call->header_count; i++)
        headers[i] = call->headers[i];
    add_variable(&traced, headers, "traceparent", "TRACEPARENT");
    add_variable(&traced, headers, "tracestate", "TRACESTATE");
    traced.headers = headers;
    return traced;
}

/* Sends and sorts the answers: everything but a 2xx is an error. */
static enum rc send_call(struct cli *cli, const struct http_call *call,
                         struct http_response *ret_response, struct err *err)
{
    struct json problem = {0};
    struct http_call traced = in_trace(cli, call);
    enum rc rc = http_client_call(cli->url, cli->token, &traced, &cli->arena, ret_response, err);
    if (rc == RC_UNREACHABLE)
        return err_set(err, rc, "cannot reach %.*s: is `belfry server` running?",
                       STR_ARG(cli->url));
    TRY(rc);
    if (ret_response->status / 100 == 2)
        return RC_OK;
    if (json_parse(ret_response->body, &cli->arena, &problem, NULL))
        problem = (struct json){0}; /* a proxy's page, say */
    return api_problem(cli, ret_response->status, &problem, err);
}

/* header NULL: none. */
static enum rc call_with(struct cli *cli, const struct http_header *header, uint64_t timeout_ms,
                         const char *method, struct str path, struct str body,
                         struct json *ret_json, struct err *err)
{
    struct http_response response;
    struct http_call call = {
        .method = method,
        .target = arena_printf(&cli->arena, API_PREFIX "%.*s", STR_ARG(path)),
        .content_type = body.len > 0 ? "application/json" : NULL,
        .body = body,
        .headers = header,
        .header_count = header != NULL,
        .accept = STR("application/json"),
        .timeout_ms = timeout_ms,
    };
    TRY(send_call(cli, &call, &response, err));
    if (json_parse_by(&json_from_server, response.body, &cli->arena, ret_json, err)) {
        if (err->rc != RC_TOO_LARGE)
            err->rc = RC_CORRUPT; /* the other side's fault, not bad usage */
        return err_note(err, "%.*s gave an answer that is not JSON", STR_ARG(cli->url));
    }
    return RC_OK;
}

enum rc api_call_if(struct cli *cli, const char *condition, const char *method, struct str path,
                    struct str body, struct json *ret_json, struct err *err)
{
    const struct http_header header = {str_c(condition != NULL ? condition : ""), STR("*")};
    return call_with(cli, condition != NULL ? &header : NULL, CALL_TIMEOUT_MS, method, path, body,
                     ret_json, err);
}

enum rc api_call_once(struct cli *cli, const char *key, struct str path, struct str body,
                      uint64_t timeout_ms, struct json *ret_json, struct err *err)
{
    const struct http_header header = {STR("Idempotency-Key"), str_c(key)};
    return call_with(cli, &header, timeout_ms, "POST", path, body, ret_json, err);
}

enum rc api_call(struct cli *cli, const char *method, struct str path, struct str body,
                 struct json *ret_json, struct err *err)
{
    return api_call_if(cli, NULL, method, path, body, ret_json, err);
}

enum rc api_get(struct cli *cli, struct str path, struct json *ret_json, struct err *err)
{
    return api_call(cli, "GET", path, STR(""), ret_json, err);
}

/* The id of what GET finds under that text. */
static enum rc find_id(struct cli *cli, const char *collection, struct str text, struct str key,
                       struct str *ret_id, struct err *err)
{
    CLEANUP(buf_free) struct buf path = BUF(QUERY_BYTES_MAX);
    struct json thing;
    buf_printf(&path, "/%s/", collection);
    api_add_encoded(&path, arena_zstr(&cli->arena, text));
    TRY(api_get(cli, buf_str(&path), &thing, err));
    *ret_id = api_text(&thing, key);
    return RC_OK;
}

enum rc api_job_id(struct cli *cli, struct str text, struct str *ret_id, struct err *err)
{
    uint64_t ignored;
    *ret_id = text;
    if (id_parse(text, ID_JOB, &ignored, NULL) == RC_OK)
        return RC_OK;
    return find_id(cli, "jobs", text, STR("job_id"), ret_id, err);
}

enum rc api_target(struct cli *cli, struct cli_target *ret_target, struct err *err)
{
    uint64_t ignored;
    struct id_part part;
    if (cli->words.count != 1)
        return err_set(err, RC_INVALID, "needs one job or execution: an id, or a job's name");
    struct str text = str_c(cli->words.items[0]);
    *ret_target = (struct cli_target){.id = text};
    ret_target->is_execution = id_parse(text, ID_EXEC, &ignored, NULL) == RC_OK;
    if (ret_target->is_execution)
        return RC_OK;
    enum rc rc = api_job_id(cli, text, &ret_target->id, err);
    if (rc != RC_NOT_FOUND || !id_part_parse(text, ID_EXEC, &part))
        return rc;
    cli->refused = false;
    cli->details = (struct str){0};
    ret_target->is_execution = true;
    return find_id(cli, "executions", text, STR("execution_id"), &ret_target->id, err);
}

/* A machine that lost its power ends no connection: only silence tells. */
uint64_t api_stream_idle_ms(void)
{
    const char *text = getenv("BELFRY_STREAM_IDLE");
    int64_t ms;
    bool given = text != NULL && duration_parse(str_c(text), &ms, NULL) == RC_OK && ms > 0;
    return given ? (uint64_t)ms : STREAM_IDLE_MS;
}

/* A stream under way. */
struct streaming {
    const struct api_stream *stream;
    struct err err; /* the error that its on_data returned */
};

static void on_stream_data(void *arg, struct str piece)
{
    struct streaming *s = arg;
    (void)s->stream->on_data(s->stream->arg, piece, &s->err); /* wants_more asks for it */
}

static bool wants_more(void *arg)
{
    const struct streaming *s = arg;
    return s->err.rc == RC_OK;
}

enum rc api_stream(struct cli *cli, const struct api_stream *stream, struct err *err)
{
    struct http_response response;
    struct streaming streaming = {.stream = stream};
    struct http_call call = {
        .method = "GET",
        .target = arena_printf(&cli->arena, API_PREFIX "%.*s", STR_ARG(stream->path)),
        .accept = stream->accept,
        .last_event_id = stream->last_event_id,
        .idle_ms = api_stream_idle_ms(),
        .on_data = on_stream_data,
        .wants_more = wants_more,
        .arg = &streaming,
    };
    enum rc rc = send_call(cli, &call, &response, err);
    if (streaming.err.rc == RC_OK)
        return rc;
    *err = streaming.err;
    return err->rc;
}

void api_add_encoded(struct buf *out, const char *text)
{
    buf_add_encoded(out, str_c(text));
}

void api_add_param(struct buf *query, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(query, "%s%s=", query->len > 0 ? "&" : "", name);
    api_add_encoded(query, value);
}

static enum rc get_page(struct cli *cli, const struct api_list *list, uint64_t limit,
                        struct str cursor, struct json *ret_page, struct err *err)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    if (list->whole)
        return api_get(cli, str_c(list->path), ret_page, err);
    buf_add(&query, list->query);
    api_add_param(&query, "limit", arena_printf(&cli->arena, "%" PRIu64, limit).ptr);
    if (cursor.len > 0)
        api_add_param(&query, "cursor", arena_zstr(&cli->arena, cursor));
    struct str path = arena_printf(&cli->arena, "%s?%.*s", list->path, STR_ARG(buf_str(&query)));
    return api_get(cli, path, ret_page, err);
}

/* A page of up to *page_max items, or `left` when that is less (0: all of them). When the things on
 * it are so large that the server does not put them into one answer, or we do not read it, fewer
 * are asked for, from then on. */
static enum rc get_fitting_page(struct cli *cli, const struct api_list *list, uint64_t left,
                                struct str cursor, uint64_t *page_max, struct json *ret_page,
                                struct err *err)
{
    for (;;) {
        uint64_t limit = left == 0 || left > *page_max ? *page_max : left;
        enum rc rc = get_page(cli, list, limit, cursor, ret_page, err);
        if (rc != RC_TOO_LARGE || limit == 1 || list->whole)
            return rc;
        *page_max = limit / 2;
        cli->refused = false;
        cli->details = (struct str){0};
    }
}

/* Hands over what the limit leaves room for. */
static void give_page(const struct api_list *list, const struct json *page, api_sink *sink,
                      void *arg, struct api_rest *rest)
{
    const struct json *items = json_get(page, str_c(list->key));
    size_t count = items != NULL && items->kind == JSON_ARRAY ? items->count : 0;
    size_t i = 0;
    for (; i < count && (list->limit == 0 || rest->given < list->limit); i++, rest->given++)
        sink(arg, &items->items[i]);
    rest->cursor = api_text(page, STR("next_cursor"));
    rest->more = i < count || rest->cursor.len > 0;
}

/* A page may be short, or even empty, without being the last one: only the cursor tells. */
enum rc api_list(struct cli *cli, const struct api_list *list, api_sink *sink, void *arg,
                 struct api_rest *ret_rest, struct err *err)
{
    struct api_rest rest = {0};
    uint64_t page_max = PAGE_ITEMS_MAX;
    do {
        struct json page;
        uint64_t left = list->limit == 0 ? 0 : list->limit - rest.given;
        TRY(get_fitting_page(cli, list, left, rest.cursor, &page_max, &page, err));
        give_page(list, &page, sink, arg, &rest);
        TRY(cli_written(err));
    } while (rest.cursor.len > 0 && (list->limit == 0 || rest.given < list->limit));
    if (ret_rest != NULL)
        *ret_rest = rest;
    return RC_OK;
}

struct str api_reason(const char *reason, struct arena *arena)
{
    CLEANUP(buf_free) struct buf body = BUF(REASON_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    if (reason == NULL)
        return STR("");
    json_open(&w);
    json_put_str(&w, "reason", str_c(reason));
    json_close(&w);
    return arena_str(arena, buf_str(&body));
}

enum rc api_execution_of(struct cli *cli, const struct cli_target *target, struct str *ret_id,
                         struct err *err)
{
    struct str id = target->id;
    if (!target->is_execution) {
        struct json job;
        TRY(api_get(cli, arena_printf(&cli->arena, "/jobs/%.*s", STR_ARG(id)), &job, err));
        id = api_text(&job, STR("last_execution_id"));
    }
    if (id.len == 0)
        return err_set(err, RC_NOT_FOUND, "%.*s has no executions", STR_ARG(target->id));
    *ret_id = id;
    return RC_OK;
}

enum rc api_limit_body(struct cli *cli, const char *text, struct str *ret_body, struct err *err)
{
    uint64_t limit;
    if (str_eq(str_c(text), STR("none")))
        *ret_body = STR("{\"concurrency\":null}");
    else if (str_to_u64(str_c(text), &limit) && limit <= INT64_MAX)
        *ret_body = arena_printf(&cli->arena, "{\"concurrency\":%" PRIu64 "}", limit);
    else
        return err_set(err, RC_INVALID, "a limit is a number or none, not '%s'", text);
    return RC_OK;
}
