/* load.h - between memory and the store: records taken into memory, and the horizon behind which
 * executions stay in the store. */
#pragma once
#include "base/err.h"
#include "job/record/record.h"

struct engine;
struct exec;
struct job;
struct question_list;

/* Everything before this place in the order (due_ms, id) is in memory. */
struct horizon {
    int64_t due_ms;
    uint64_t id;
};

/* The thing in memory, taken over from the record when it is not there yet. NULL with err set when
 * the record makes no sense. */
struct job *adopt_job(struct engine *e, const struct job_rec *rec, struct err *err);
struct exec *adopt_exec(struct engine *e, const struct exec_rec *rec, struct err *err);
/* Asks for executions that are due behind the horizon; adopt_due takes them over. */
void ask_due(struct engine *e, struct question_list *list);
void adopt_due(struct engine *e);
bool beyond_horizon(const struct engine *e, const struct exec *x);
