#include "engine/trace/traces.h"
#include "base/mem.h"
#include "engine/core/exec.h"
#include "engine/submit/definition.h"

#include <assert.h>
#include <stdlib.h>

void trace_keep(struct engine *e, struct exec *x, struct str context)
{
    if (context.len == 0)
        return;
    struct str *kept = mem_new(sizeof *kept + context.len);
    struct buf text = {.ptr = (char *)(kept + 1), .cap = context.len, .max = context.len};
    buf_add(&text, context);
    *kept = buf_str(&text);
    assert(!x->traced);
    map_put(&e->traces, x->id, kept);
    x->traced = true;
}

void trace_drop(struct engine *e, const struct exec *x)
{
    if (x->traced)
        free(map_remove(&e->traces, x->id));
}

struct str trace_context(const struct engine *e, const struct exec *x)
{
    return x->traced ? *(const struct str *)map_get(&e->traces, x->id) : STR("");
}

static bool find_trace(const struct engine *e, const struct exec *x, struct exec_trace *ret_trace)
{
    return (x->traced || e->options.trace.on) &&
           trace_of(&e->options.trace, x->id, trace_context(e, x), ret_trace);
}

void trace_of_event(struct engine *e, const struct exec *x)
{
    struct event *event = &e->turn.events.items[e->turn.events.len - 1];
    struct exec_trace trace;
    if (!find_trace(e, x, &trace))
        return;
    event->trace = trace.id;
    event->sampled = (trace.flags & TRACE_SAMPLED) != 0;
}

struct str trace_of_alert(struct engine *e, const struct exec *x)
{
    char text[TRACE_TEXT_MAX];
    struct exec_trace trace;
    if (!find_trace(e, x, &trace))
        return STR("");
    return arena_str(e->turn.arena, trace_id_format(text, trace.id));
}

void trace_of_lease(const struct engine *e, const struct exec *x, struct arena *arena,
                    struct poll_lease *lease)
{
    struct exec_trace trace;
    if (!find_trace(e, x, &trace))
        return;
    lease->trace = trace_for_attempt(&e->options.trace, x->id, lease->token, &trace);
    lease->trace_state = arena_str(arena, trace.state);
}

/* For good: to cancel or to skip one was a decision, and no error. */
static bool is_error(enum exec_state state)
{
    return state == EXEC_FAILED || state == EXEC_TIMEOUT || state == EXEC_EXPIRED;
}

void trace_ended(struct engine *e, const struct touched *t, const struct exec_change *change)
{
    const struct exec *x = t->exec;
    struct exec_trace trace;
    if (!exec_is_final(x->v.state) || !find_trace(e, x, &trace))
        return;
    bool wanted =
        (trace.flags & TRACE_SAMPLED) != 0 || (e->options.trace.errors && is_error(x->v.state));
    if (!wanted)
        return;
    *VEC_PUSH(e->turn.arena, &e->turn.traces) = (struct ended_trace){
        .trace = trace,
        .change = change,
        .job = job_name(x->job),
        .handler = x->job->v.def->rules.track->lane->handler,
    };
}
