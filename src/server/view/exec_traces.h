/* exec_traces.h - which traces the executions of an answer belong to.
 *
 * A record has the context of its caller, if that gave one. The traces of all others follow from
 * their ids, and are told only where spans are sent: elsewhere nobody would find them. */
#pragma once
#include "server/call/context.h"
#include "wire/message/record_json.h"

void exec_traces_fill(const struct server *server, struct exec_rec *execs, size_t count,
                      struct arena *arena);
/* The same for those that the view of a job shows. */
void job_traces_fill(const struct server *server, struct job_view *view, struct arena *arena);
