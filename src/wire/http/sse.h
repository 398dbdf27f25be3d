/* sse.h - server-sent events (text/event-stream), written and read.
 *
 * The reader takes the stream in pieces of any size and calls back once per complete event. It is
 * bounded: a server that sends an endless line costs a client no more than the limit. */
#pragma once
#include "base/buf.h"

#define SSE_TYPE "text/event-stream"

/* id and event are ours and hold no line break; empty ones are left out. data may have several
 * lines, but no \r, which a reader takes for a line break too. */
void sse_print(struct buf *out, struct str id, struct str event, struct str data);
/* A comment: keeps a quiet connection alive and is nothing to its reader. */
void sse_print_ping(struct buf *out);

struct sse_event {
    struct str id;    /* of this event, or the last one before it that had one: for Last-Event-ID */
    struct str event; /* "message" when the stream does not say */
    struct str data;  /* lines joined by \n */
};

/* The event is valid during the call. */
typedef void sse_sink(void *arg, const struct sse_event *event);

struct sse_reader {
    struct buf line; /* owned, all four */
    struct buf id;
    struct buf event;
    struct buf data;
    bool has_data;
    bool after_cr; /* the last byte was \r: a \n now belongs to it */
    bool started;  /* the first line is over: no byte order mark any more */
};

/* No line and no event is larger than event_bytes_max. */
struct sse_reader sse_reader(size_t event_bytes_max);
void sse_reader_free(struct sse_reader *r); /* also usable as CLEANUP(sse_reader_free) */
/* RC_TOO_LARGE when the limit is hit; the reader is of no use afterwards. */
enum rc sse_feed(struct sse_reader *r, struct str piece, sse_sink *on_event, void *arg,
                 struct err *err);
