/* deadlines.h - executions that should have started by a moment. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct exec;

enum { NO_DEADLINE_MS = -1 };

/* Of an execution that was just given to a worker: how long after it should have run; -1: it had
 * started before. */
int64_t start_lag_ms(const struct engine *e, const struct exec *x);
/* … and how long it has waited, if its start before that was at before_ms (0: it had none); -1: it
 * was lost or given back since it became ready, and keeps its place, but did not wait there. */
int64_t start_wait_ms(const struct engine *e, const struct exec *x, int64_t before_ms);
/* The next moment by which the execution should have started, or else is late or expires. */
int64_t deadline_ms(const struct exec *x);
/* When the execution expires unless it has started; NO_DEADLINE_MS: never. */
int64_t expiry_ms(const struct exec *x);
/* Marks the execution late when it is, and ends it when it may not start any more. True: it is
 * over. */
bool deadline_pass(struct engine *e, struct exec *x);
