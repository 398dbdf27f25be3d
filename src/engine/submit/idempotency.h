/* idempotency.h - requests that come again under the same key. */
#pragma once
#include "engine/core/engine.h"

/* Asks for the key of a command that is no submission. */
void idempotency_ask(struct engine *e, struct command *cmd, struct question_list *list);
/* Asks for the key of one submission. */
void idempotency_ask_item(struct engine *e, struct command *cmd, struct submission *item,
                          struct question_list *list);
/* Asks about the job that was made the first time: others of its batch may wait for it. */
void idempotency_ask_original(struct engine *e, struct command *cmd, struct submission *item,
                              struct question_list *list);
/* By the answer: the same was asked before, so there is nothing to decide. */
bool idempotency_was_asked(const struct once *once);
/* True when the command is to be decided. False: it has its answer, the first one again or a
 * refusal. */
bool idempotency_begin(struct engine *e, struct command *cmd);
/* After the command was decided: remembers the answer, or gives the key back. */
void idempotency_end(struct engine *e, struct command *cmd);
/* The same for one submission of a command. */
bool idempotency_begin_item(struct engine *e, struct command *cmd, struct submission *item);
void idempotency_end_item(struct engine *e, struct submission *item);
