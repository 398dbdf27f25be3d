/* traces.h - which trace each execution belongs to, and which of those that end are told about.
 *
 * The trace of an execution follows from its id (job/trace/trace.h). Only a caller's context is
 * kept: beside the executions, since few have one, and in their record. Nothing is open while an
 * execution lives: the server makes its spans of what is known when it ends. */
#pragma once
#include "engine/core/model.h"

struct exec;
struct touched;

/* Gives a new or loaded execution its caller's context; an empty one is none. */
void trace_keep(struct engine *e, struct exec *x, struct str context);
void trace_drop(struct engine *e, const struct exec *x);
/* Empty: its caller gave none. */
struct str trace_context(const struct engine *e, const struct exec *x);

/* Says in the newest event of the turn, which is about x, which trace x belongs to. */
void trace_of_event(struct engine *e, const struct exec *x);
/* The id as an alert has it, for this turn; empty: it belongs to none. */
struct str trace_of_alert(struct engine *e, const struct exec *x);
/* Gives a lease what its command needs to go on with the trace. */
void trace_of_lease(const struct engine *e, const struct exec *x, struct arena *arena,
                    struct poll_lease *lease);
/* Of a change of this turn: when it ends the execution, and that is to be told, it is. */
void trace_ended(struct engine *e, const struct touched *t, const struct exec_change *change);
