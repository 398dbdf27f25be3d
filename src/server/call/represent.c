#include "server/call/represent.h"
#include "server/call/route_table.h"
#include "wire/zip/gzip.h"

#include <inttypes.h>

enum { TAG_BYTES_MAX = 48 };

/* A packed body is another representation, and has another tag (RFC 9110, 8.8.3.3). */
static struct str tag_of(struct request *r, uint64_t hash, bool packed)
{
    const char *end = packed ? "z" : "";
    if (r->version > 0)
        return arena_printf(r->arena, "\"%u.%016" PRIx64 "%s\"", (unsigned)r->version, hash, end);
    return arena_printf(r->arena, "\"%016" PRIx64 "%s\"", hash, end);
}

static bool is_about_one_thing(const struct request *r)
{
    enum http_method method = r->http->method;
    return (method == HTTP_METHOD_GET || method == HTTP_METHOD_HEAD) && r->id.len > 0;
}

static bool pack(struct request *r, size_t bytes_max)
{
    struct buf packed = {0};
    bool fits = r->body.len >= REPRESENT_BYTES_MIN && r->body.len <= bytes_max;
    if (!fits || !http_request_takes_coding(r->http, STR("gzip")))
        return false;
    if (!gzip_pack(buf_str(&r->body), &packed)) {
        buf_free(&packed);
        return false;
    }
    buf_free(&r->body);
    r->body = packed;
    return true;
}

void represent_body(struct request *r, size_t bytes_max)
{
    bool small = r->body.len < REPRESENT_BYTES_MIN;
    bool tagged = is_about_one_thing(r);
    if (r->form.is_made || r->gathering != NULL || r->body.overflow || (small && !tagged) ||
        r->route->roles == ROLE_WORKER)
        return;
    r->form.is_made = true;
    r->form.varies = !small;
    uint64_t hash = tagged ? str_hash(buf_str(&r->body)) : 0;
    if (tagged) {
        r->form.tag = tag_of(r, hash, false);
        r->form.is_known = http_request_has_tag(r->http, r->form.tag);
    }
    if (tagged && !r->form.is_known && http_request_has_tag(r->http, tag_of(r, hash, true))) {
        r->form.tag = tag_of(r, hash, true); /* what a cache keeps is renewed by its own tag */
        r->form.is_known = true;
    }
    if (r->form.is_known) {
        buf_clear(&r->body);
        return;
    }
    r->form.is_packed = pack(r, bytes_max);
    if (tagged && r->form.is_packed)
        r->form.tag = tag_of(r, hash, true);
}
