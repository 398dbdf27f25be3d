/* trace_record.h - what is told of executions that ended, on its way from the turn to the tracer.
 *
 * The turn copies the little that spans are made of, in one piece of memory for all of a turn, and
 * goes on; texts stand behind the records. Most executions ran once, as soon as they might, and
 * then that is all there is to tell. Of others the tracer reads the trail and the attempts from the
 * store, on its own thread. */
#pragma once
#include "job/command/command.h"
#include "loop/mailbox.h"

struct trace_record {
    struct exec_trace trace;
    uint64_t exec_id;
    uint64_t job_id;
    uint64_t retry_of;
    uint64_t token;
    enum exec_state state;
    enum origin origin;
    uint32_t attempts;
    int64_t slot_ms;
    int64_t created_ms;
    int64_t ready_ms;
    int64_t finished_ms;
    struct attempt_rec attempt; /* its only one, without its tail; token 0: it had none */
    bool whole;                 /* there is no more to tell */
    struct str queue;
    struct str job; /* its name; empty: none */
    struct str handler;
    struct str error;
};

struct trace_told {
    struct mail mail;
    size_t bytes; /* of all this */
    size_t count;
    struct trace_record records[];
};

/* As many of them, from the first on, as there is room for; NULL: none. The caller frees it. */
struct trace_told *trace_tell(const struct ended_trace *ended, size_t count, size_t bytes_max);
/* How many spans will be made of it; a guess where that is not known yet. */
size_t trace_span_count(const struct ended_trace *ended);
