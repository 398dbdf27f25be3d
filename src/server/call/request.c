#include "server/call/request.h"
#include "job/trace/trace.h"
#include "loop/clock.h"
#include "server/call/board.h"
#include "server/call/browser.h"
#include "server/call/net.h"
#include "server/call/queries.h"
#include "server/call/represent.h"
#include "server/call/route_table.h"
#include "server/cluster/forward.h"
#include "server/cluster/gather.h"
#include "server/metrics/scrape.h"
#include "server/turn/decider.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBLEM_TYPE "application/problem+json"

enum {
    BODY_BYTES_MAX = 64 << 20,
    HEADERS_MAX = 5,
};

size_t request_about(void *arg, struct log_field ret_fields[LOG_ABOUT_MAX])
{
    static _Thread_local char trace_text[TRACE_TEXT_MAX]; /* until the thread's next line */
    const struct request *r = arg;
    struct trace_parent parent;
    size_t count = 0;
    if (r->http == NULL) /* the server's own: nobody has asked for it */
        return 0;
    ret_fields[count++] = (struct log_field){"request_id", str_c(r->request_id), false};
    if (trace_parent_parse(http_request_header(r->http, STR("traceparent")), &parent))
        ret_fields[count++] =
            (struct log_field){"trace_id", trace_id_format(trace_text, parent.trace), false};
    return count;
}

/* ---- sending */

static void leave(struct request *r, enum spent_phase away)
{
    times_leave(&r->times, away, clock_mono_us());
}

static void arrive(struct parcel *parcel)
{
    struct request *r = CONTAINER_OF(parcel, struct request, parcel);
    times_return(&r->times, clock_mono_us());
    log_set_about(request_about, r);
    r->home(r);
    log_set_about(NULL, NULL); /* it may be gone */
}

void request_send_home(struct request *r)
{
    r->parcel.deliver = arrive;
    net_send(r->net, &r->parcel);
}

/* A thread that is too busy has not taken it. */
static void fail_unless_sent(struct request *r, enum rc rc)
{
    if (rc != RC_OK)
        request_fail(r, rc, "the server has too much to do; try again in a moment");
}

/* The turn may say that another server has to decide. Not of a poll: a worker asks all of them. */
static bool goes_elsewhere(struct request *r)
{
    bool elsewhere = r->cmd.reply.rc == RC_DEPOSED && r->cmd.kind != CMD_POLL;
    if (!elsewhere || r->server->membership == NULL || r->gathering != NULL)
        return false;
    forward_refused(r);
    return true;
}

static void take_reply(struct request *r)
{
    if (!goes_elsewhere(r))
        r->done(r);
}

static void take_success(struct request *r)
{
    if (goes_elsewhere(r))
        return;
    if (r->cmd.reply.rc == RC_OK)
        r->done(r);
    else
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
}

static bool makes_executions(enum command_kind kind)
{
    return kind == CMD_SUBMIT || kind == CMD_TRIGGER_JOB || kind == CMD_RETRY_EXEC ||
           kind == CMD_RETRY_LETTER;
}

static void to_turn(struct request *r, enum command_kind kind, request_step *home,
                    request_step *done)
{
    r->cmd.kind = kind;
    r->cmd.actor = r->who->actor;
    r->cmd.arena = r->arena;
    r->cmd.trace = makes_executions(kind) ? request_trace(r) : STR("");
    r->home = home;
    r->done = done;
    leave(r, SPENT_TURN_WAIT);
    fail_unless_sent(r, decider_send(r->server->decider, r));
}

void request_to_turn(struct request *r, request_step *done)
{
    to_turn(r, r->route->command, take_success, done);
}

void request_to_turn_as(struct request *r, enum command_kind kind, request_step *done)
{
    to_turn(r, kind, take_success, done);
}

void request_to_turn_refusable(struct request *r, enum command_kind kind, request_step *done)
{
    to_turn(r, kind, take_reply, done);
}

/* A request at the board; in its arena. */
struct board_call {
    struct board_wait wait;
    struct request *request;
};

static void read_board(struct request *r)
{
    struct snapshot *s = r->snapshot;
    if (s != NULL) {
        r->cmd.reply = s->errand.request.cmd.reply;
        r->cmd.reply.at_ms = s->at_ms;
    }
    take_success(r); /* r may be gone */
    snapshot_release(s);
}

static void take_snapshot(struct board_wait *wait, struct snapshot *take_snapshot)
{
    struct request *r = CONTAINER_OF(wait, struct board_call, wait)->request;
    r->snapshot = take_snapshot;
    r->cmd.reply.rc = wait->rc;
    r->cmd.reply.err = wait->err;
    request_send_home(r);
}

static void to_board(struct request *r, struct board *board, uint64_t age_ms, request_step *done)
{
    struct board_call *call = ARENA_NEW(r->arena, struct board_call);
    call->wait.take = take_snapshot;
    call->request = r;
    r->home = read_board;
    r->done = done;
    leave(r, SPENT_OTHER_THREAD);
    board_ask(board, (int64_t)age_ms * 1000, &call->wait);
}

void request_to_board(struct request *r, request_step *done)
{
    to_board(r, r->server->board, r->server->options->stats_age_ms, done);
}

void request_to_waits(struct request *r, request_step *done)
{
    to_board(r, r->server->waits, r->server->options->waits_age_ms, done);
}

/* Of a look, or of the output log. */
static void take_result(struct request *r)
{
    if (r->rc == RC_OK)
        r->done(r);
    else if (r->errors != NULL)
        request_fail_fields(r, r->errors);
    else
        request_fail(r, r->rc, r->err.text);
}

static void answer_body(struct request *r)
{
    request_answer_body(r, 200);
}

void request_to_query_first(struct request *r, request_look *look, request_step *done)
{
    r->look = look;
    r->form.by_look = done == answer_body;
    r->home = take_result;
    r->done = done;
    leave(r, SPENT_QUERY_WAIT);
    fail_unless_sent(r, queries_send(r->server->queries, r));
}

void request_to_query(struct request *r, request_look *look)
{
    r->body = BUF(BODY_BYTES_MAX);
    request_to_query_first(r, look, answer_body);
}

void request_to_store(struct request *r, request_keep *keep, request_step *done)
{
    r->keep = keep;
    r->home = take_result;
    r->done = done;
    leave(r, SPENT_OTHER_THREAD);
    fail_unless_sent(r, decider_keep(r->server->decider, r));
}

void request_to_output_log(struct request *r, request_send *send, request_step *done)
{
    r->home = take_result;
    r->done = done;
    leave(r, SPENT_OTHER_THREAD);
    fail_unless_sent(r, send(r->server->tail, r));
}

void request_to_scraper(struct request *r, request_step *done)
{
    r->home = done;
    leave(r, SPENT_OTHER_THREAD);
    fail_unless_sent(r, scraper_send(r->server->scraper, r));
}

/* ---- answering */

static void respond(struct request *r, const struct http_answer *answer)
{
    struct buf body = r->body; /* the request is gone after the answer, its arena too */
    struct http_header headers[HEADERS_MAX + 2];
    struct http_answer kept = *answer;
    r->body = (struct buf){0};
    if (r->session != NULL || r->form.cookie.len > 0) {
        for (size_t i = 0; i < answer->header_count; i++)
            headers[i] = answer->headers[i];
        headers[kept.header_count++] = browser_no_store;
        if (r->form.cookie.len > 0)
            headers[kept.header_count++] = (struct http_header){STR("Set-Cookie"), r->form.cookie};
        kept.headers = headers;
    }
    if (r->gathering != NULL)
        gather_own(r, &kept);
    else
        http_respond(r->http, &kept);
    buf_free(&body);
}

static size_t add_headers(struct request *r, struct http_header headers[HEADERS_MAX])
{
    size_t count = 0;
    if (r->form.tag.len == 0 && r->version > 0)
        r->form.tag = arena_printf(r->arena, "\"%u\"", (unsigned)r->version);
    if (r->form.tag.len > 0)
        headers[count++] = (struct http_header){STR("ETag"), r->form.tag};
    if (r->form.is_replayed)
        headers[count++] = (struct http_header){STR("Idempotency-Replayed"), STR("true")};
    if (r->form.location.len > 0)
        headers[count++] = (struct http_header){STR("Location"), r->form.location};
    if (r->form.is_packed)
        headers[count++] = (struct http_header){STR("Content-Encoding"), STR("gzip")};
    if (r->form.varies)
        headers[count++] = (struct http_header){STR("Vary"), STR("Accept-Encoding")};
    return count;
}

void request_answer(struct request *r, int status, struct str json)
{
    if (r->body.overflow) { /* half a document would look like a whole one that is broken */
        request_problem(r, 413,
                        "the answer would have more than %zu bytes; ask for fewer things at "
                        "a time (limit)",
                        r->body.max);
        return;
    }
    struct http_header headers[HEADERS_MAX];
    if (json.ptr == r->body.ptr && status == 200) {
        represent_body(r, REPRESENT_HERE_MAX);
        json = buf_str(&r->body);
    }
    size_t count = add_headers(r, headers);
    if (r->form.type == NULL)
        r->form.type = JSON_TYPE;
    respond(r, &(struct http_answer){
                   .status = r->form.is_known ? 304 : status,
                   .content_type = r->form.is_known ? NULL : r->form.type,
                   .body = json,
                   .headers = headers,
                   .header_count = count,
               });
}

struct str request_location(struct request *r, const char *collection, struct str id)
{
    return arena_printf(r->arena, "/api/v1/%s/%.*s", collection, STR_ARG(id));
}

void request_answer_bytes(struct request *r, struct str bytes)
{
    respond(r, &(struct http_answer){.status = 200, .content_type = BYTES_TYPE, .body = bytes});
}

void request_answer_empty(struct request *r, int status)
{
    respond(r, &(struct http_answer){.status = status});
}

struct json_writer request_writer(struct request *r)
{
    r->body = BUF(BODY_BYTES_MAX);
    return JSON_WRITER(&r->body);
}

void request_answer_body(struct request *r, int status)
{
    request_answer(r, status, buf_str(&r->body));
}

static void answer_problem(struct request *r, int status, const char *code, struct str detail,
                           const struct field_errors *errors)
{
    const struct http_header again = {
        STR("Retry-After"),
        arena_printf(r->arena, "%d", r->form.retry_s > 0 ? r->form.retry_s : 1)};
    static const struct http_header realm = {STR_INIT("WWW-Authenticate"), STR_INIT("Bearer")};
    if (forward_is_doubtful(r, status)) {
        status = 502;
        code = NULL;
        detail = arena_printf(
            r->arena,
            "whether it was done is not known: the connection to the server that decides "
            "was lost; asked again, it says: %.*s",
            STR_ARG(detail));
    }
    buf_free(&r->body);
    r->body = BUF(BODY_BYTES_MAX);
    problem_print(&r->body, status, code, detail, str_c(r->request_id), errors);
    bool retry = status == 503 || status == 429;
    respond(r, &(struct http_answer){
                   .status = status,
                   .content_type = PROBLEM_TYPE,
                   .body = buf_str(&r->body),
                   .headers = retry ? &again : &realm,
                   .header_count = retry || status == 401,
               });
}

void request_problem(struct request *r, int status, const char *format, ...)
{
    char detail[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    answer_problem(r, status, NULL, str_c(detail), NULL);
}

void request_fail(struct request *r, enum rc rc, const char *detail)
{
    answer_problem(r, problem_status(rc), problem_code(rc), str_c(detail), NULL);
}

void request_fail_fields(struct request *r, const struct field_errors *errors)
{
    answer_problem(r, 400, NULL, field_errors_text(errors, r->arena), errors);
}
