/* request_read.c - what a request asks: its body, its path, its parameters. */
#include "base/when.h"
#include "server/call/request.h"
#include "server/call/route_table.h"
#include "wire/zip/gzip.h"

#include <string.h>

#define PATCH_TYPE "application/merge-patch+json"

enum {
    REASON_BYTES_MAX = 400,
    PAGE_LIMIT_DEFAULT = 50,
    PAGE_LIMIT_MAX = 1000,
};

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

struct str request_header_joined(struct request *r, struct str name)
{
    struct str all = {0};
    for (size_t i = 0; i < r->http->header_count; i++) {
        const struct http_header *header = &r->http->headers[i];
        if (!str_eq_nocase(header->name, name))
            continue;
        all = all.ptr == NULL
                  ? header->value
                  : arena_printf(r->arena, "%.*s,%.*s", STR_ARG(all), STR_ARG(header->value));
    }
    return all;
}

/* Two of the first header, joined, are not valid, which is as it should be. */
struct str request_trace(struct request *r)
{
    struct str parent = request_header_joined(r, STR("traceparent"));
    if (parent.len == 0)
        return STR("");
    return trace_context_read(parent, request_header_joined(r, STR("tracestate")), r->arena);
}
