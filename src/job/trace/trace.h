/* trace.h - which trace something belongs to: W3C Trace Context as values.
 *
 * A caller hands its trace over in two headers, and a command gets its own in two variables:
 *
 *     traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *     tracestate:  congo=t61rcWkgMzE,rojo=00f067aa0ba902b7
 *
 * The first one names version, trace, the caller's span and flags; the second one is passed on
 * unread. A traceparent that is not valid is as none at all, and takes its tracestate along: the
 * standard forbids to refuse a call because of it.
 *
 * Ids are derived, not stored: an execution that no caller's trace claims has a trace of its own,
 * whose id is a hash of the execution's, and so have all spans. Every server, and every one that
 * looks later, comes to the same ids and, as TraceIdRatioBased of OpenTelemetry, to the same
 * decision whether a trace is sampled. Plain values: no I/O, no allocation, no clock. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

struct trace_id {
    uint64_t high; /* the first 16 of its 32 digits */
    uint64_t low;
};

enum trace_flag {
    TRACE_SAMPLED = 1 << 0,
    TRACE_RANDOM = 1 << 1, /* the low 56 bits of the trace's id are random (level 2) */
    TRACE_FLAGS = TRACE_SAMPLED | TRACE_RANDOM /* all others are to be sent as 0 */
};

struct trace_parent {
    struct trace_id trace; /* never 0 */
    uint64_t span;         /* of the caller; never 0 */
    unsigned flags;        /* enum trace_flag */
};

enum {
    TRACE_ID_DIGITS = 32,
    TRACE_SPAN_DIGITS = 16,
    TRACE_PARENT_LEN = 55,
    TRACE_TEXT_MAX = 64,   /* any of these texts and a NUL */
    TRACE_STATE_MAX = 512, /* bytes that are passed on; so many, the standard says, at least */
    TRACE_STATE_MEMBERS_MAX = 32, /* the standard's */
};

/* False when it is not valid. Of a version to come, what version 00 knows is read. */
bool trace_parent_parse(struct str text, struct trace_parent *ret_parent);
/* Version 00; ret_text holds TRACE_TEXT_MAX. Returns the text. */
struct str trace_parent_format(char *ret_text, const struct trace_parent *parent);
struct str trace_id_format(char *ret_text, struct trace_id id);
struct str trace_span_format(char *ret_text, uint64_t span);
bool trace_id_parse(struct str text, struct trace_id *ret_id);

/* Writes the members of a tracestate without the spaces between them; several headers are one text
 * with commas. Nothing, and false, when it is not valid or has too many members or bytes: it is
 * dropped as a whole then, since half of it might mislead those who read it. */
bool trace_state_read(struct str text, struct buf *out);

static inline bool trace_id_is_set(struct trace_id id)
{
    return (id.high | id.low) != 0;
}

static inline bool trace_id_eq(struct trace_id a, struct trace_id b)
{
    return a.high == b.high && a.low == b.low;
}

/* ---- derived ids */

enum trace_span_kind {
    TRACE_SPAN_EXECUTION, /* the whole of it: parent of the others */
    TRACE_SPAN_SUBMIT,
    TRACE_SPAN_WAIT,    /* numbered: one before each attempt */
    TRACE_SPAN_ATTEMPT, /* numbered by the token of its lease */
    TRACE_SPAN_KINDS
};

/* The trace of an execution that no caller's trace claims. `realm` tells installations apart that
 * send their spans to one place: ids of executions are unique in one only. */
struct trace_id trace_of_exec(uint64_t realm, uint64_t exec_id);
uint64_t trace_span_of(uint64_t realm, uint64_t exec_id, enum trace_span_kind kind,
                       uint64_t number);

/* A share of all traces, as a bound for bits 1 to 63 of their ids: as OpenTelemetry's libraries for
 * Go and Python have it, so that a trace sampled there at the same ratio is sampled here, too. */
struct trace_ratio {
    uint64_t below;
};

/* ratio: 0 to 1. */
struct trace_ratio trace_ratio_of(double ratio);
static inline bool trace_ratio_has(struct trace_ratio ratio, struct trace_id id)
{
    return (id.low >> 1) < ratio.below;
}

/* ---- the trace of an execution */

/* What a server does about traces; all 0: it sends no spans. */
struct trace_rule {
    bool on;                  /* spans are sent somewhere */
    bool errors;              /* those of executions that failed are, sampled or not */
    uint64_t realm;           /* tells this store from others */
    struct trace_ratio ratio; /* of the traces that begin here */
};

/* The caller's context as it is kept with an execution: its traceparent, and behind a space its
 * tracestate if it has one. Read from these two headers; empty: there is none. */
enum { TRACE_CONTEXT_MAX = TRACE_PARENT_LEN + 1 + TRACE_STATE_MAX };
struct str trace_context_read(struct str parent, struct str state, struct arena *arena);

/* Only the id of such a context, as text; empty: there is none. */
struct str trace_id_text(struct str context);

struct exec_trace {
    struct trace_id id;
    uint64_t caller; /* the span that asked for it; 0: its trace begins with it */
    unsigned flags;
    struct str state; /* the caller's; usually empty */
};

/* False: it belongs to none, since nobody gave it one and no spans are sent. */
bool trace_of(const struct trace_rule *rule, uint64_t exec_id, struct str context,
              struct exec_trace *ret_trace);
/* What the command of an attempt is given as its own parent. Where no spans are sent, that is the
 * caller's span: it would wait in vain for one between them. */
struct trace_parent trace_for_attempt(const struct trace_rule *rule, uint64_t exec_id,
                                      uint64_t token, const struct exec_trace *trace);
