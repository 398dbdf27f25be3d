#include "wire/json/problem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    FIELD_BYTES_MAX = 160, /* of a path: keys are the client's and may be a megabyte */
    MESSAGE_BYTES_MAX = 512,
};

#define FOR(rc) (UINT32_C(1) << (rc))
static_assert(RC_SHUTDOWN < 32, "a bit for each code of `rcs`");

/* The first row of a status has its usual code. */
/* clang-format off */
const struct problem_kind problem_kinds[] = {
    {400, "invalid", "Bad Request", FOR(RC_INVALID) | FOR(RC_UNSUPPORTED),
     "a bad field, parameter or cursor; `errors` names it. A field whose feature is "
     "not there yet is refused here, never ignored"},
    {401, "unauthenticated", "Unauthorized", 0, "no key, or an unknown one"},
    {403, "denied", "Forbidden", FOR(RC_DENIED), "the key's role may not call this"},
    {404, "not_found", "Not Found", FOR(RC_NOT_FOUND),
     "no such route or thing, also when the id is not one"},
    {405, "method_not_allowed", "Method Not Allowed", 0, "`Allow` lists the methods of this path"},
    {406, "not_acceptable", "Not Acceptable", 0,
     "the `Accept` header does not take what this call answers with; nothing was done"},
    {408, "timeout", "Request Timeout", 0, "the request came too slowly"},
    {409, "conflict", "Conflict", FOR(RC_CONFLICT),
     "a name or unique key in use, an execution in the wrong state, a lease that was "
     "never this worker's"},
    {409, "stale", "Conflict", FOR(RC_STALE),
     "an old poll number or version, a lease that is over"},
    {409, "in_progress", "Conflict", FOR(RC_PENDING),
     "a request with the same key is being decided"},
    {409, "stopping", "Conflict", FOR(RC_STOPPING),
     "unique work whose run is being cancelled: try again when it has ended"},
    {409, "limit_reached", "Conflict", FOR(RC_LIMITED),
     "a limit that waiting does not lift, of queues or of calendars; the detail names "
     "it"},
    {411, "length_required", "Length Required", 0,
     "a body is needed, and `Content-Length` or chunks to tell where it ends"},
    {412, "precondition_failed", "Precondition Failed", 0,
     "`If-Match` or `If-None-Match` does not hold for the job as it is now"},
    {413, "too_large", "Content Too Large", FOR(RC_TOO_LARGE),
     "the body, or a part of it, is over a limit; the detail names it"},
    {414, "uri_too_long", "URI Too Long", 0, "the path with its parameters is too long"},
    {415, "unsupported_media_type", "Unsupported Media Type", 0,
     "the body is not of the type that this call reads"},
    {417, "expectation_failed", "Expectation Failed", 0, "an `Expect` other than `100-continue`"},
    {422, "unprocessable", "Unprocessable Content", FOR(RC_REUSED),
     "an `Idempotency-Key` that was used for another request"},
    {428, "precondition_required", "Precondition Required", 0, "this call needs `If-Match`"},
    {429, "busy", "Too Many Requests", 0,
     "a bounded thing is full; `Retry-After` says when to come back"},
    {431, "headers_too_large", "Request Header Fields Too Large", 0,
     "the headers are too long or too many"},
    {500, "internal", "Internal Server Error",
     FOR(RC_UNREACHABLE) | FOR(RC_IO) | FOR(RC_CORRUPT) | FOR(RC_UNKNOWN),
     "the server's own fault; the detail says what went wrong"},
    {501, "not_implemented", "Not Implemented", 0, "a method or transfer coding that no call uses"},
    {502, "bad_gateway", "Bad Gateway", 0,
     "another server broke off or made no sense; whether it was done is not known"},
    {503, "busy", "Service Unavailable", FOR(RC_BUSY) | FOR(RC_DEPOSED) | FOR(RC_SHUTDOWN),
     "a bounded thing is full, or the store is away; `Retry-After` says when to come "
     "back"},
    {504, "timeout", "Gateway Timeout", FOR(RC_TIMEOUT),
     "the answer took too long, of another server or of this one; whether it was done is not known"},
    {505, "http_version", "HTTP Version Not Supported", 0, "neither HTTP/1.0 nor HTTP/1.1"},
    {507, "full", "Insufficient Storage", FOR(RC_FULL), "no room on the disk; nothing was kept"},
};
/* clang-format on */
const size_t problem_kind_count = COUNT_OF(problem_kinds);

/* A status that is not listed is told as our own fault. */
static const struct problem_kind *find_status(int status)
{
    const struct problem_kind *internal = NULL;
    for (size_t i = 0; i < COUNT_OF(problem_kinds); i++) {
        if (problem_kinds[i].status == status)
            return &problem_kinds[i];
        if (problem_kinds[i].status == 500)
            internal = &problem_kinds[i];
    }
    assert(internal != NULL);
    return internal;
}

/* A code that no row has is our own fault, too. */
static const struct problem_kind *find_rc(enum rc rc)
{
    for (size_t i = 0; i < COUNT_OF(problem_kinds); i++) {
        if (problem_kinds[i].rcs & FOR(rc))
            return &problem_kinds[i];
    }
    return find_status(500);
}

int problem_status(enum rc rc)
{
    return find_rc(rc)->status;
}

const char *problem_code(enum rc rc)
{
    return find_rc(rc)->code;
}

const char *problem_title(int status)
{
    return find_status(status)->title;
}

const char *problem_word(int status)
{
    return find_status(status)->code;
}

void problem_kinds_print(struct buf *out)
{
    buf_add(out, STR("| status | code | when |\n|---|---|---|\n"));
    for (size_t i = 0; i < COUNT_OF(problem_kinds); i++)
        buf_printf(out, "| %d | `%s` | %s |\n", problem_kinds[i].status, problem_kinds[i].code,
                   problem_kinds[i].when);
}

/* ---- fields */

void field_error(struct field_errors *errors, struct arena *arena, struct str field,
                 const char *format, ...)
{
    if (errors->count == FIELD_ERRORS_MAX)
        return;
    char message[MESSAGE_BYTES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    errors->items[errors->count++] = (struct field_error){
        .field = arena_str(arena, str_head(field, FIELD_BYTES_MAX)),
        .message = arena_str(arena, str_c(message)),
    };
}

struct str field_errors_text(const struct field_errors *errors, struct arena *arena)
{
    if (errors->count == 0)
        return STR("");
    const struct field_error *first = &errors->items[0];
    const char *joint = " ";
    if (first->field.len == 0)
        joint = "";
    else if (str_starts(first->message, STR("unknown"))) /* the one message that has no verb */
        joint = ": ";
    struct str text =
        arena_printf(arena, "%.*s%s%.*s", STR_ARG(first->field), joint, STR_ARG(first->message));
    if (errors->count == 1)
        return text;
    return arena_printf(arena, "%.*s (and %zu more)", STR_ARG(text), errors->count - 1);
}

/* ---- the document */

static void put_errors(struct json_writer *w, const struct field_errors *errors)
{
    json_key(w, "errors");
    json_open_array(w);
    for (size_t i = 0; i < errors->count; i++) {
        json_open(w);
        json_put_str(w, "field", errors->items[i].field);
        json_put_str(w, "message", errors->items[i].message);
        json_close(w);
    }
    json_close_array(w);
}

void problem_write(struct json_writer *w, int status, const char *code, struct str detail,
                   struct str request_id, const struct field_errors *errors)
{
    json_open(w);
    json_put_str(w, "type", STR("about:blank"));
    json_put_str(w, "title", str_c(problem_title(status)));
    json_put_int(w, "status", status);
    json_put_str(w, "code", str_c(code != NULL ? code : problem_word(status)));
    json_put_str(w, "detail", detail);
    if (request_id.len > 0)
        json_put_str(w, "request_id", request_id);
    if (errors != NULL && errors->count > 0)
        put_errors(w, errors);
    json_close(w);
}

void problem_print(struct buf *out, int status, const char *code, struct str detail,
                   struct str request_id, const struct field_errors *errors)
{
    struct json_writer w = JSON_WRITER(out);
    problem_write(&w, status, code, detail, request_id, errors);
}
