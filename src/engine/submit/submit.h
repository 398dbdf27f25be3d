/* submit.h - new jobs. */
#pragma once
#include "engine/core/engine.h"

#define TOO_MANY_LIVE "the server holds as many unfinished jobs as it may"

enum rc name_taken(struct err *err, struct str name, uint64_t holder);
/* When the only run of a job that does not recur is due, now_ms at the earliest. */
int64_t submission_due_ms(const struct submission *item, int64_t now_ms);
/* Gives back a claim that this very transaction took, and does not need. */
void give_back(struct engine *e, const struct question *q);
void ask_submit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void decide_submit(struct engine *e, struct command *cmd);
