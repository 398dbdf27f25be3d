/* spans.h - the spans of an execution that ended, in OpenTelemetry's JSON (OTLP 1).
 *
 *     execute QUEUE     from the submission, or from the slot, to its end; the others' parent
 *     ├ submit QUEUE    when it was asked for; slots are asked for by nobody
 *     ├ wait QUEUE      for its time, for what it depends on, for the next attempt, or in line
 *     └ process QUEUE   an attempt, under the id that its command had as its parent
 *
 * Attributes are called as OpenTelemetry's conventions have it, for messaging and errors, else
 * belfry.*. Pure: what is told of an execution goes in, text comes out. */
#pragma once
#include "server/trace/trace_record.h"

/* What the store says of an execution whose record is not whole; all zero: it says nothing. */
struct trace_past {
    struct str trail;
    const struct attempt_rec *attempts;
    size_t attempt_count;
};

/* Appends the spans of one execution, as objects with commas between them, and one in front when
 * `more`. Returns how many. */
size_t spans_print(struct buf *out, uint64_t realm, const struct trace_record *record,
                   const struct trace_past *past, bool more);

/* What stands around the spans of a batch. */
struct span_source {
    struct str service;
    struct str node; /* which of its servers */
};
void spans_begin(struct buf *out, const struct span_source *source);
void spans_end(struct buf *out);
