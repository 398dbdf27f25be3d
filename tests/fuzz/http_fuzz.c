/* Bytes from strangers: the request parser must survive all of them, and must understand the same
 * whether they come at once or in pieces. The pieces are cut by the hash of the input, so that any
 * file with a request in it is a good seed. */
#include "base/rng.h"
#include "wire/http/http_parse.h"

#include <stdlib.h>

static const struct http_limits limits = {
    .head_bytes_max = 600,
    .target_bytes_max = 100,
    .body_bytes_max = 300,
};

/* What was understood. Not the status of a refusal: in a piece with two faults, which one is met
 * first depends on where the piece ends. */
struct outcome {
    enum http_parse last;
    size_t requests;
    uint64_t digest;
};

static void digest(struct outcome *o, struct str s)
{
    o->digest = (o->digest ^ str_hash(s)) * 0x100000001b3U + s.len;
}

static void note_request(struct outcome *o, struct http_request *req)
{
    struct str decoded;
    o->requests++;
    digest(o, req->path);
    digest(o, req->query);
    digest(o, req->body);
    for (size_t i = 0; i < req->header_count; i++) {
        digest(o, req->headers[i].name);
        digest(o, req->headers[i].value);
    }
    if (http_decode(&req->arena, req->path, false, &decoded))
        digest(o, decoded);
    if (http_request_param(req, STR("a"), &decoded))
        digest(o, decoded);
    digest(o, http_request_accepts(req, STR("text/plain")) ? STR("yes") : STR("no"));
}

static struct outcome read_all(struct str bytes, size_t piece_max, uint64_t seed)
{
    struct outcome o = {.last = HTTP_PARSE_MORE};
    struct rng rng = {seed};
    struct http_request req = {0};
    struct http_parser *parser = http_parser_new(&limits, &req);
    while (bytes.len > 0 && o.last != HTTP_PARSE_REFUSED) {
        size_t len = (size_t)rng_below(&rng, piece_max) + 1;
        size_t used;
        o.last =
            http_parser_feed(parser, str_of(bytes.ptr, len < bytes.len ? len : bytes.len), &used);
        bytes = str_from(bytes, used);
        if (o.last == HTTP_PARSE_DONE) {
            note_request(&o, &req);
            http_parser_reset(parser);
        }
    }
    if ((o.last == HTTP_PARSE_REFUSED) != (http_parser_refusal(parser).status != 0))
        abort();
    http_parser_free(parser);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str bytes = str_of((const char *)data, len);
    struct outcome bytewise = read_all(bytes, 1, 0);
    struct outcome pieces = read_all(bytes, 64, str_hash(bytes));
    if (bytewise.last != pieces.last || bytewise.requests != pieces.requests ||
        bytewise.digest != pieces.digest)
        abort();
    return 0;
}
