#include "wire/http/http_out.h"

#include <assert.h>
#include <stdint.h>

enum { PARTS_MAX = 4 };

void http_out_init(struct http_out *out, uv_stream_t *stream, http_out_done *on_done)
{
    *out = (struct http_out){
        .stream = stream,
        .on_done = on_done,
        .sending = BUF(SIZE_MAX),
        .waiting = BUF(SIZE_MAX), /* streams are bounded by who writes them, answers by nature */
    };
}

void http_out_free(struct http_out *out)
{
    buf_free(&out->sending);
    buf_free(&out->waiting);
}

size_t http_out_unsent(const struct http_out *out)
{
    return out->waiting.len + uv_stream_get_write_queue_size(out->stream);
}

static void on_written(uv_write_t *write, int status);

static int flush(struct http_out *out)
{
    struct buf empty = out->sending;
    buf_clear(&empty);
    out->sending = out->waiting;
    out->waiting = empty;
    uv_buf_t bytes = uv_buf_init(out->sending.ptr, (unsigned)out->sending.len);
    bytes.len = out->sending.len; /* uv_buf_init takes an unsigned int, the struct a size_t */
    out->write.data = out;
    return uv_write(&out->write, out->stream, &bytes, 1, on_written);
}

static void on_written(uv_write_t *write, int status)
{
    struct http_out *out = write->data;
    buf_free(&out->sending); /* a slow reader is rare, and its buffer may be large */
    if (status == 0 && out->waiting.len > 0)
        status = flush(out);
    else if (status == 0)
        buf_free(&out->waiting);
    if (status < 0 || out->sending.len == 0)
        out->on_done(out, status);
}

/* libuv only reads through the pointer; its type cannot say so. */
static uv_buf_t as_uv_buf(struct str s)
{
    union {
        const char *in;
        char *out;
    } ptr = {.in = s.ptr};
    return (uv_buf_t){.base = ptr.out, .len = s.len};
}

/* How many bytes the socket took at once, or a libuv error. */
static int try_now(struct http_out *out, const struct str *parts, size_t count)
{
    uv_buf_t bufs[PARTS_MAX];
    unsigned used = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            bufs[used++] = as_uv_buf(parts[i]);
    }
    int sent = used == 0 ? 0 : uv_try_write(out->stream, bufs, used);
    return sent == UV_EAGAIN ? 0 : sent;
}

int http_out_send(struct http_out *out, const struct str *parts, size_t count)
{
    assert(count <= PARTS_MAX);
    bool idle = http_out_unsent(out) == 0 && out->sending.len == 0;
    int sent = idle ? try_now(out, parts, count) : 0;
    if (sent < 0)
        return sent;

    size_t skip = (size_t)sent;
    for (size_t i = 0; i < count; i++) {
        struct str left = str_from(parts[i], skip);
        skip -= parts[i].len - left.len;
        buf_add(&out->waiting, left);
    }
    return idle && out->waiting.len > 0 ? flush(out) : 0;
}
