/* tracer.h - tells a collector of traces what ended: OTLP over HTTP, in JSON.
 *
 * The turn hands over, after its commit, what is to be told; a thread makes spans of it (spans.h)
 * and posts them in batches. Nobody waits for it: what finds no room in trace_queue_bytes_max is
 * dropped and counted, and so is a batch that the collector refuses, or does not take in five
 * tries. Between tries it waits longer and longer, or as long as Retry-After asks. Without an
 * address there is no thread, and the engine makes nothing to tell. */
#pragma once
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ended_trace;
struct server;
struct tracer;

/* *ret_tracer is NULL when nobody is to be told. */
enum rc tracer_start(struct server *server, struct tracer **ret_tracer, struct err *err);
/* From the turn's thread, after the commit. */
void tracer_take(struct tracer *t, const struct ended_trace *ended, size_t count);
/* Tells what is left, within some seconds, and ends the thread. NULL is fine. */
void tracer_stop(struct tracer *t);

enum trace_drop {
    TRACE_DROP_FULL,        /* no room in the queue */
    TRACE_DROP_REFUSED,     /* the collector said so */
    TRACE_DROP_UNREACHABLE, /* it did not take them in all tries */
    TRACE_DROP_STOPPED,     /* the server ended first */
    TRACE_DROPS
};

struct trace_counts {
    int64_t exported; /* spans; … */
    int64_t rejected; /* … of those, by the collector, which took their batch otherwise */
    int64_t dropped[TRACE_DROPS];
    int64_t failed;      /* tries to send a batch */
    int64_t queue_bytes; /* now */
};
/* From any thread. NULL: all 0. */
struct trace_counts tracer_counts(struct tracer *t);
