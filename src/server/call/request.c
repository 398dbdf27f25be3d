#include "server/call/request.h"
#include "base/when.h"
#include "server/call/board.h"
#include "server/call/net.h"
#include "server/call/queries.h"
#include "server/call/represent.h"
#include "server/call/route_table.h"
#include "server/cluster/forward.h"
#include "server/cluster/gather.h"
#include "server/turn/decider.h"
#include "wire/zip/gzip.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBLEM_TYPE "application/problem+json"
#define PATCH_TYPE "application/merge-patch+json"

enum {
    BODY_BYTES_MAX = 64 << 20,
    REASON_BYTES_MAX = 400,
    PAGE_LIMIT_DEFAULT = 50,
    PAGE_LIMIT_MAX = 1000,
    HEADERS_MAX = 5,
};

/* ---- sending */

static void arrive(struct parcel *parcel)
{
    struct request *r = CONTAINER_OF(parcel, struct request, parcel);
    r->home(r);
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

static void to_turn(struct request *r, enum command_kind kind, request_step *home,
                    request_step *done)
{
    r->cmd.kind = kind;
    r->cmd.actor = r->who->actor;
    r->cmd.arena = r->arena;
    r->home = home;
    r->done = done;
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
    r->prints = done == answer_body;
    r->home = take_result;
    r->done = done;
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
    fail_unless_sent(r, decider_keep(r->server->decider, r));
}

void request_to_output_log(struct request *r, request_send *send, request_step *done)
{
    r->home = take_result;
    r->done = done;
    fail_unless_sent(r, send(r->server->tail, r));
}

/* ---- answering */

static void respond(struct request *r, const struct http_answer *answer)
{
    struct buf body = r->body; /* the request is gone after the answer, its arena too */
    struct http_header headers[HEADERS_MAX + 1];
    struct http_answer kept = *answer;
    r->body = (struct buf){0};
    if (r->form.cookie.len > 0) {
        for (size_t i = 0; i < answer->header_count; i++)
            headers[i] = answer->headers[i];
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

/* ---- reading */

bool request_accepts(struct request *r, const char *type)
{
    if (http_request_accepts(r->http, str_c(type)))
        return true;
    request_problem(r, 406, "this is %s, which the Accept header does not take", type);
    return false;
}

/* JSON is UTF-8 (RFC 8259); a client that says that its text is not is believed. */
static bool is_json_type(struct str type, bool patch)
{
    struct str name = str_trim(str_cut(&type, ';'));
    if (name.len > 0 && !str_eq_nocase(name, STR(JSON_TYPE)) &&
        !(patch && str_eq_nocase(name, STR(PATCH_TYPE))))
        return false;
    while (type.len > 0) {
        struct str value = str_trim(str_cut(&type, ';'));
        struct str key = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (str_eq_nocase(key, STR("charset")) && !str_eq_nocase(value, STR("utf-8")) &&
            !str_eq_nocase(value, STR("\"utf-8\"")))
            return false;
    }
    return true;
}

/* The bytes count as those of the request, and its limits are those of what was packed. */
static bool take_unpacked(struct request *r, const struct buf *plain)
{
    if (!http_request_hold(r->http, plain->len)) {
        request_problem(r, 503, "too many bytes of requests are under way; try again");
        return false;
    }
    r->http->body = arena_str(r->arena, buf_str(plain));
    r->is_unpacked = true;
    return true;
}

bool request_unpack(struct request *r)
{
    struct str coding = http_request_header(r->http, STR("Content-Encoding"));
    struct err err;
    if (coding.len == 0 || r->is_unpacked || str_eq_nocase(coding, STR("identity")))
        return true;
    if (!str_eq_nocase(coding, STR("gzip"))) {
        request_problem(r, 415, "the body must be gzip, or not be encoded at all");
        return false;
    }
    CLEANUP(buf_free) struct buf plain = BUF(r->server->options->request_bytes_max);
    if (gzip_unpack(r->http->body, &plain, &err) == RC_OK)
        return take_unpacked(r, &plain);
    request_problem(r, problem_status(err.rc), "the body cannot be taken: %s", err.text);
    return false;
}

/* Checks Content-Type and its neighbours before a byte of the body is looked at. */
static bool is_json_body(struct request *r, bool patch)
{
    bool has_length = http_request_header(r->http, STR("Content-Length")).ptr != NULL ||
                      http_request_header(r->http, STR("Transfer-Encoding")).ptr != NULL;
    if (!has_length)
        request_problem(r, 411, "this call needs a body, and its Content-Length");
    else if (!is_json_type(http_request_header(r->http, STR("Content-Type")), patch))
        request_problem(r, 415, "the body must be " JSON_TYPE "%s in UTF-8",
                        patch ? " or " PATCH_TYPE : "");
    else if (!request_unpack(r))
        return false;
    else
        return true;
    return false;
}

static bool read_object(struct request *r, bool patch, struct json *ret_doc)
{
    struct err err;
    if (!is_json_body(r, patch))
        return false;
    enum rc rc = json_parse_by(&json_from_user, r->http->body, r->arena, ret_doc, &err);
    if (rc != RC_OK) {
        request_problem(r, problem_status(rc), "the body is not %sJSON: %s",
                        rc == RC_TOO_LARGE ? "acceptable " : "", err.text);
        return false;
    }
    if (ret_doc->kind == JSON_OBJECT)
        return true;
    request_problem(r, 400, "the body must be an object, not %s", json_kind_name(ret_doc->kind));
    return false;
}

bool request_json(struct request *r, bool optional, struct json *ret_doc)
{
    if (optional && r->http->body.len == 0) {
        *ret_doc = (struct json){.kind = JSON_OBJECT};
        return true;
    }
    return read_object(r, false, ret_doc);
}

bool request_merge_patch(struct request *r, struct json *ret_doc)
{
    return read_object(r, true, ret_doc);
}

bool request_reason(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_json(r, true, &doc))
        return false;
    for (size_t i = 0; i < doc.count; i++) {
        const struct json_member *m = &doc.members[i];
        if (!str_eq(m->key, STR("reason")))
            field_error(&errors, r->arena, m->key, "unknown field");
        else if (m->value.kind != JSON_STRING || m->value.string.len > REASON_BYTES_MAX)
            field_error(&errors, r->arena, m->key, "must be a string of at most %d bytes",
                        REASON_BYTES_MAX);
        else
            r->cmd.target.reason = m->value.string;
    }
    if (errors.count == 0)
        return true;
    request_fail_fields(r, &errors);
    return false;
}

bool request_path_name(struct request *r, const char *field, name_check *check,
                       struct str *ret_name)
{
    struct field_errors errors = {0};
    if (!http_decode(r->arena, r->id, false, ret_name))
        field_error(&errors, r->arena, str_c(field),
                    "has a %% without two hexadecimal digits behind it");
    else
        (void)check(*ret_name, r->arena, &errors);
    if (errors.count == 0)
        return true;
    request_fail_fields(r, &errors);
    return false;
}

static bool path_id(struct request *r, struct str text, const char *prefix, uint64_t *ret_id)
{
    struct err err;
    if (id_parse(text, prefix, ret_id, &err) == RC_OK)
        return true;
    request_problem(r, 404, "%s", err.text);
    return false;
}

bool request_path_id(struct request *r, const char *prefix, uint64_t *ret_id)
{
    return path_id(r, r->id, prefix, ret_id);
}

bool request_target(struct request *r)
{
    const char *prefix = command_id_prefix(route_facts(r->route).subject);
    return request_no_params(r) && request_path_id(r, prefix, &r->cmd.target.id);
}

bool request_path_sub_id(struct request *r, const char *prefix, uint64_t *ret_id)
{
    return path_id(r, r->sub_id, prefix, ret_id);
}

static const char *const no_names[] = {NULL};

/* The place of a name among those known; -1: it is none of them. */
static int find_name(struct str name, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (str_eq(name, str_c(names[i])))
            return i;
    }
    return -1;
}

/* The error of one parameter, or NULL. *seen has a bit for each that was there before. */
static const char *check_param(struct request *r, struct str name, struct str value,
                               const char *const *names, const char *const *repeats, uint64_t *seen)
{
    struct str decoded;
    int place = find_name(name, names);
    if (place < 0)
        return "is not a parameter of this call";
    if ((*seen >> place & 1) != 0 && find_name(name, repeats) < 0)
        return "must not be there twice";
    if (value.len == 0)
        return "must not be empty";
    if (!http_decode(r->arena, value, true, &decoded))
        return "has a % without two hexadecimal digits behind it";
    *seen |= UINT64_C(1) << place;
    return NULL;
}

bool request_params_known(struct request *r, const char *const *names)
{
    return request_params_repeat(r, names, no_names);
}

bool request_next_param(struct request *r, struct str *rest, struct str *ret_name,
                        struct str *ret_value)
{
    while (rest->len > 0) {
        struct str value = str_cut(rest, '&');
        *ret_name = str_cut(&value, '=');
        if (ret_name->len > 0 && http_decode(r->arena, value, true, ret_value))
            return true;
    }
    return false;
}

bool request_params_repeat(struct request *r, const char *const *names, const char *const *repeats)
{
    struct field_errors errors = {0};
    struct str rest = r->http->query;
    uint64_t seen = 0;
    while (rest.len > 0) {
        struct str value = str_cut(&rest, '&');
        if (value.len == 0)
            continue;
        struct str name = str_cut(&value, '=');
        const char *wrong = check_param(r, name, value, names, repeats, &seen);
        if (wrong != NULL)
            field_error(&errors, r->arena, name, "%s", wrong);
    }
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    return errors.count == 0;
}

bool request_no_params(struct request *r)
{
    return request_params_known(r, no_names);
}

void request_page(struct request *r, struct field_errors *errors)
{
    struct str text;
    uint64_t limit = PAGE_LIMIT_DEFAULT;
    if (http_request_param(r->http, STR("limit"), &text) &&
        (!str_to_u64(text, &limit) || limit < 1 || limit > PAGE_LIMIT_MAX))
        field_error(errors, r->arena, STR("limit"), "must be between 1 and %d", PAGE_LIMIT_MAX);
    if (http_request_param(r->http, STR("count"), &text)) {
        r->list.want_total = str_eq(text, STR("true"));
        if (!r->list.want_total && !str_eq(text, STR("false")))
            field_error(errors, r->arena, STR("count"), "must be true or false");
    }
    r->list.page.limit = limit;
}

void request_moment(struct request *r, const char *name, int64_t *ret_ms,
                    struct field_errors *errors)
{
    struct str text;
    struct err err;
    if (!http_request_param(r->http, str_c(name), &text))
        return;
    if (text.len == strlen("2026-11-16"))
        text = arena_printf(r->arena, "%.*sT00:00:00Z", STR_ARG(text));
    if (when_parse(text, ret_ms, &err) != RC_OK)
        field_error(errors, r->arena, str_c(name), "%s", err.text);
}

void request_bound(struct request *r, const char *name, int64_t *ret_ms,
                   struct field_errors *errors)
{
    struct str text;
    struct err err;
    if (!http_request_param(r->http, str_c(name), &text))
        return;
    if (when_parse(text, ret_ms, &err) != RC_OK)
        field_error(errors, r->arena, str_c(name), "%s", err.text);
    else if (*ret_ms < 0)
        field_error(errors, r->arena, str_c(name), "must not be before 1970");
    else if (*ret_ms == 0)
        *ret_ms = 1; /* 0 would be no bound at all */
}
