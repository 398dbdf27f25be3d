/* A traceparent that is accepted reads the same when it is printed as version 00. What a tracestate
 * leaves is a tracestate that nothing more is taken from. */
#include "fuzz.h"
#include "job/trace/trace.h"

static void parent(struct str text)
{
    struct trace_parent read;
    struct trace_parent again;
    char printed[TRACE_TEXT_MAX];
    if (!trace_parent_parse(text, &read))
        return;
    assert(trace_id_is_set(read.trace) && read.span != 0);
    bool ok = trace_parent_parse(trace_parent_format(printed, &read), &again);
    assert(ok && trace_id_eq(read.trace, again.trace) && read.span == again.span &&
           read.flags == again.flags);
}

static void state(struct str text)
{
    CLEANUP(buf_free) struct buf once = BUF(2 * TRACE_STATE_MAX);
    CLEANUP(buf_free) struct buf twice = BUF(2 * TRACE_STATE_MAX);
    bool ok = trace_state_read(text, &once);
    assert(once.len <= TRACE_STATE_MAX && (ok || once.len == 0));
    ok = trace_state_read(buf_str(&once), &twice);
    assert(ok && str_eq(buf_str(&once), buf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = fuzz_text(data, size);
    parent(text);
    state(text);
    return 0;
}
