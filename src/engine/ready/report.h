/* report.h - what becomes of an execution when its worker reports, or stays silent. */
#pragma once
#include "engine/core/engine.h"

struct exec;
struct worker;

/* Asks about results of leases that are not in memory: they may have been reported before. */
void ask_results(struct engine *e, struct command *cmd, struct question_list *list);
/* *asked counts the answers used so far, which come in the order of the results. */
void report_result(struct engine *e, const struct worker *w, struct str actor,
                   const struct poll_result *result, size_t *asked,
                   struct poll_verdict *ret_verdict);
/* Whether a token still owns its run. */
void decide_fence(struct engine *e, struct command *cmd);
/* How far an execution is to blame for the end of its lease without a report. */
enum blame {
    BLAME_NONE,   /* as far as is known, it never began */
    BLAME_OTHER,  /* something else that was on the worker */
    BLAME_UNSEEN, /* its worker is gone, and perhaps because of it */
    BLAME_LOST,   /* its worker is gone, and it was on probation */
};
/* The lease ended without a report. The blame counts for leases that no poll has confirmed. */
void report_silence(struct engine *e, struct exec *x, struct str reason, enum blame blame);
