/* depends_new.h - the dependencies of a job that is being submitted. */
#pragma once
#include "engine/core/engine.h"

struct exec;

/* Asks about the upstream jobs that are not in memory. */
void depends_ask(struct engine *e, struct command *cmd, struct submission *item,
                 struct question_list *list);
/* Whether the item may depend on the jobs it names; fills in how each of those stands. */
enum rc depends_check(struct engine *e, struct command *cmd, struct submission *item,
                      struct err *err);
/* The item has to wait, due_ms being when it is due. */
bool depends_hold(const struct engine *e, const struct submission *item, int64_t due_ms);
/* Makes the edges of a job that is new; skips x when one of them can never be met. */
void depends_add(struct engine *e, const struct submission *item, struct exec *x);
