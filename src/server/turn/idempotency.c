#include "server/turn/idempotency.h"

/* ---- the key */

static size_t count_headers(const struct request *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->http->header_count; i++)
        count += str_eq_nocase(r->http->headers[i].name, STR("Idempotency-Key"));
    return count;
}

bool idempotency_read_header(struct request *r, bool has_place)
{
    struct field_errors errors = {0};
    struct str key = http_request_header(r->http, STR("Idempotency-Key"));
    struct str name = STR("Idempotency-Key");
    size_t count = count_headers(r);
    if (r->http->method != HTTP_METHOD_POST || count == 0)
        return true;
    if (!has_place) /* it would promise what this call does not do */
        field_error(&errors, r->arena, name,
                    "has no place here: it is for calls that make something (submit, trigger, "
                    "retry); this one may be repeated without it");
    else if (count > 1)
        field_error(&errors, r->arena, name, "must not be there twice");
    else if (!idempotency_key_is_valid(key))
        field_error(&errors, r->arena, name, "must be 1 to %d characters of visible ASCII",
                    SPEC_ONCE_KEY_MAX);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return false;
    }
    r->idempotency_key = key;
    return true;
}

/* Where a key counts: the caller's own. A team takes its place when there are teams. */
static struct str scope_of(const struct request *r)
{
    return r->who->actor;
}

/* ---- what it stands for */

struct once idempotency_of_job(const struct request *r, struct str key,
                               const struct submission *item)
{
    return idempotency_in_scope(scope_of(r), key, item, r->arena);
}

struct once idempotency_of_call(const struct request *r, const struct str *parts, size_t count)
{
    struct str *texts = ARENA_ARRAY(r->arena, struct str, count + 1);
    texts[0] = r->http->path;
    for (size_t i = 0; i < count; i++)
        texts[i + 1] = parts[i];
    return idempotency_of_texts(scope_of(r), r->idempotency_key, texts, count + 1, r->arena);
}
