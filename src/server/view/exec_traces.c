#include "server/view/exec_traces.h"

void exec_traces_fill(const struct server *server, struct exec_rec *execs, size_t count,
                      struct arena *arena)
{
    const struct trace_rule *rule = &server->options->engine.trace;
    for (size_t i = 0; i < count && rule->on; i++) {
        char text[TRACE_TEXT_MAX];
        struct exec_trace trace;
        if (execs[i].trace.len > 0 || !trace_of(rule, execs[i].id, STR(""), &trace))
            continue;
        const struct trace_parent own = {
            trace.id, trace_span_of(rule->realm, execs[i].id, TRACE_SPAN_EXECUTION, 0),
            trace.flags};
        execs[i].trace = arena_str(arena, trace_parent_format(text, &own));
    }
}

static const struct exec_rec *filled(const struct server *server, const struct exec_rec *exec,
                                     struct arena *arena)
{
    if (exec == NULL || !server->options->engine.trace.on)
        return exec;
    struct exec_rec *copy = ARENA_NEW(arena, struct exec_rec);
    *copy = *exec;
    exec_traces_fill(server, copy, 1, arena);
    return copy;
}

void job_traces_fill(const struct server *server, struct job_view *view, struct arena *arena)
{
    view->current = filled(server, view->current, arena);
    if (view->last_run == NULL || !server->options->engine.trace.on)
        return;
    struct last_run *run = ARENA_NEW(arena, struct last_run);
    *run = *view->last_run;
    run->exec = filled(server, run->exec, arena);
    view->last_run = run;
}
