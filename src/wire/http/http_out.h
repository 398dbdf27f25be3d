/* http_out.h - the sending half of a connection.
 *
 * A write goes straight to the socket, which nearly always takes all of it: no allocation, no
 * callback. The part that the socket does not take is copied and sent when it can be; further
 * writes queue up behind it and leave together. */
#pragma once
#include "base/buf.h"

#include <uv.h>

struct http_out;

/* Called later, never by http_out_send itself, when all that was left over has been sent
 * (status 0) or the socket broke (a libuv error). */
typedef void http_out_done(struct http_out *out, int status);

struct http_out {
    uv_stream_t *stream;
    http_out_done *on_done;
    uv_write_t write;
    struct buf sending; /* libuv has it */
    struct buf waiting; /* behind it */
};

void http_out_init(struct http_out *out, uv_stream_t *stream, http_out_done *on_done);
/* Only after the stream was closed. */
void http_out_free(struct http_out *out);

/* Parts are borrowed for the call. Returns 0, or a libuv error when the socket is broken. */
int http_out_send(struct http_out *out, const struct str *parts, size_t count);
/* Bytes that the socket has not taken yet. */
size_t http_out_unsent(const struct http_out *out);
