#include "wire/json/problem.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    FIELD_BYTES_MAX = 160, /* of a path: keys are the client's and may be a megabyte */
    MESSAGE_BYTES_MAX = 512,
};

/* The names of a status, for people and for programs. */
static const struct {
    int status;
    const char *title;
    const char *word;
} statuses[] = {
    {400, "Bad Request", "invalid"},
    {401, "Unauthorized", "unauthenticated"},
    {403, "Forbidden", "denied"},
    {404, "Not Found", "not_found"},
    {405, "Method Not Allowed", "method_not_allowed"},
    {406, "Not Acceptable", "not_acceptable"},
    {408, "Request Timeout", "timeout"},
    {409, "Conflict", "conflict"},
    {411, "Length Required", "length_required"},
    {412, "Precondition Failed", "precondition_failed"},
    {413, "Content Too Large", "too_large"},
    {414, "URI Too Long", "uri_too_long"},
    {415, "Unsupported Media Type", "unsupported_media_type"},
    {417, "Expectation Failed", "expectation_failed"},
    {422, "Unprocessable Content", "unprocessable"},
    {428, "Precondition Required", "precondition_required"},
    {429, "Too Many Requests", "busy"},
    {431, "Request Header Fields Too Large", "headers_too_large"},
    {501, "Not Implemented", "not_implemented"},
    {502, "Bad Gateway", "bad_gateway"},
    {503, "Service Unavailable", "busy"},
    {504, "Gateway Timeout", "timeout"},
    {505, "HTTP Version Not Supported", "http_version"},
    {507, "Insufficient Storage", "full"},
    {500, "Internal Server Error", "internal"}, /* the last: also what is not listed */
};

static size_t find_status(int status)
{
    size_t i = 0;
    while (i < COUNT_OF(statuses) - 1 && statuses[i].status != status)
        i++;
    return i;
}

int problem_status(enum rc rc)
{
    switch (rc) {
    case RC_INVALID:
    case RC_UNSUPPORTED: return 400;
    case RC_DENIED: return 403;
    case RC_NOT_FOUND: return 404;
    case RC_CONFLICT:
    case RC_LIMITED:
    case RC_PENDING:
    case RC_STOPPING:
    case RC_STALE: return 409;
    case RC_REUSED: return 422;
    case RC_TOO_LARGE: return 413;
    case RC_BUSY:
    case RC_DEPOSED:
    case RC_SHUTDOWN: return 503;
    case RC_TIMEOUT: return 504;
    case RC_FULL: return 507;
    default: return 500;
    }
}

const char *problem_code(enum rc rc)
{
    switch (rc) { /* the one status with five meanings */
    case RC_STALE:
    case RC_PENDING:
    case RC_LIMITED:
    case RC_STOPPING: return rc_name(rc);
    default: return problem_word(problem_status(rc));
    }
}

const char *problem_title(int status)
{
    return statuses[find_status(status)].title;
}

const char *problem_word(int status)
{
    return statuses[find_status(status)].word;
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
