#include "server/once.h"

#include <sodium.h>

enum { HASH_BYTES = crypto_generichash_BYTES_MIN, HASH_HEX = 2 * HASH_BYTES + 1 }; /* 128 bits */

/* ---- the key */

static size_t count_headers(const struct request *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->http->header_count; i++)
        count += str_eq_nocase(r->http->headers[i].name, STR("Idempotency-Key"));
    return count;
}

bool once_read_header(struct request *r, bool has_place)
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
    else if (!once_key_is_valid(key))
        field_error(&errors, r->arena, name, "must be 1 to %d characters of visible ASCII",
                    SPEC_ONCE_KEY_MAX);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return false;
    }
    r->once_key = key;
    return true;
}

/* Where a key counts: the caller's own. A team takes its place when there are teams. */
static struct str scope_of(const struct request *r)
{
    return r->who->actor;
}

/* ---- hashes */

/* Each part with its length, so that no two lists of parts look the same. */
static void add(crypto_generichash_state *hash, struct str part)
{
    uint64_t len = part.len;
    crypto_generichash_update(hash, (const unsigned char *)&len, sizeof len);
    if (len > 0)
        crypto_generichash_update(hash, (const unsigned char *)part.ptr, len);
}

static void add_number(crypto_generichash_state *hash, uint64_t number)
{
    crypto_generichash_update(hash, (const unsigned char *)&number, sizeof number);
}

static struct str hash_end(crypto_generichash_state *hash, struct arena *arena)
{
    unsigned char bytes[HASH_BYTES];
    char hex[HASH_HEX];
    crypto_generichash_final(hash, bytes, sizeof bytes);
    sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
    return arena_str(arena, str_c(hex));
}

/* Of one size, however long the key is: it is looked up in a table of all that are known. */
static struct str with_scope(struct str scope, struct str key, struct arena *arena)
{
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, HASH_BYTES);
    add(&hash, scope);
    add(&hash, key);
    return hash_end(&hash, arena);
}

/* ---- what it stands for */

struct once once_in_scope(struct str scope, struct str key, const struct submission *item,
                          struct arena *arena)
{
    crypto_generichash_state hash;
    if (key.len == 0)
        return (struct once){0};
    crypto_generichash_init(&hash, NULL, 0, HASH_BYTES);
    add(&hash, STR("job"));
    add(&hash, item->spec);
    add(&hash, item->payload);
    for (size_t i = 0; i < item->depends_count; i++) {
        const struct dependency_wish *wish = &item->depends_on[i];
        add_number(&hash, wish->type);
        add_number(&hash, wish->job_id);
        add_number(&hash, wish->number);
        add(&hash, wish->name);
    }
    return (struct once){.key = with_scope(scope, key, arena), .hash = hash_end(&hash, arena)};
}

struct once once_of_job(const struct request *r, struct str key, const struct submission *item)
{
    return once_in_scope(scope_of(r), key, item, r->arena);
}

struct once once_of_call(const struct request *r)
{
    crypto_generichash_state hash;
    if (r->once_key.len == 0)
        return (struct once){0};
    crypto_generichash_init(&hash, NULL, 0, HASH_BYTES);
    add(&hash, STR("call"));
    add(&hash, r->http->path);
    add(&hash, r->http->body);
    return (struct once){.key = with_scope(scope_of(r), r->once_key, r->arena),
                         .hash = hash_end(&hash, r->arena)};
}
