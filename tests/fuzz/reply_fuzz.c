/* Bytes from a server that may be anything: the client's parser must survive them, and understand
 * the same whether they come at once or one by one. */
#include "wire/http/http_reply.h"

#include <stdlib.h>

struct outcome {
    enum http_reply_state last;
    int status;
    size_t body_bytes;
    uint64_t digest;
};

static bool take_piece(void *arg, struct str piece)
{
    struct outcome *o = arg;
    o->body_bytes += piece.len;
    for (size_t i = 0; i < piece.len; i++)
        o->digest = (o->digest ^ (unsigned char)piece.ptr[i]) * 0x100000001b3U;
    return true;
}

static struct outcome read_all(struct str bytes, size_t piece_len)
{
    struct outcome o = {.last = HTTP_REPLY_MORE};
    struct http_reply *reply = http_reply_new(take_piece, &o);
    while (bytes.len > 0 && o.last == HTTP_REPLY_MORE) {
        size_t len = bytes.len < piece_len ? bytes.len : piece_len;
        o.last = http_reply_feed(reply, str_of(bytes.ptr, len));
        bytes = str_from(bytes, len);
    }
    if (o.last == HTTP_REPLY_MORE)
        o.last = http_reply_feed_eof(reply);
    o.status = http_reply_status(reply);
    o.digest ^= str_hash(http_reply_content_type(reply));
    o.digest ^= str_hash(http_reply_retry_after(reply));
    http_reply_free(reply);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct str bytes = str_of((const char *)data, len);
    struct outcome whole = read_all(bytes, SIZE_MAX);
    struct outcome bytewise = read_all(bytes, 1);
    if (whole.last != bytewise.last || whole.status != bytewise.status ||
        whole.body_bytes != bytewise.body_bytes || whole.digest != bytewise.digest)
        abort();
    return 0;
}
