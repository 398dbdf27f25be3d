/* edit.h - another definition for a job that exists. */
#pragma once
#include "engine/core/engine.h"

void ask_edit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void decide_edit(struct engine *e, struct command *cmd);
