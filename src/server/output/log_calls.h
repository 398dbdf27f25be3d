/* log_calls.h - the calls that read output: of an execution, and of the newest runs of a job.
 *
 * As text and as events it is sent by the tail thread, chunk by chunk (followers.h); by lines, and
 * where it begins at a line, it is looked up by the thread that knows lines (log_reader.h). */
#pragma once
#include "server/call/request.h"

enum {
    LOG_RUNS_USUAL = 5, /* of a job */
    LOG_RUNS_MAX = 20,
    LOG_RUNS_LOOKED_AT = 100, /* the newest, of which some may never have started */
    LOG_RUN_TAIL_USUAL = 100,
    LOG_RUN_TAIL_MAX = 1000,
};

void log_call_execution(struct request *r); /* GET /executions/{}/logs */
void log_call_job(struct request *r);       /* GET /jobs/{}/logs */
