/* depends_replan.h - dependencies of a job that runs once and was rescheduled by an edit. */
#pragma once
#include "engine/core/engine.h"

struct exec;

/* Asks which dependencies of the job are met. */
void depends_ask_met(struct engine *e, struct command *cmd, struct question_list *list);
/* Makes all rules of the job count for the moment that x has now. */
void depends_replanned(struct engine *e, const struct command *cmd, struct exec *x);
