/* registration.h - a worker says hello. */
#pragma once
#include "engine/core/engine.h"

/* Asks for the worker that a registration declares dead. */
void ask_of_hello(struct engine *e, struct command *cmd, struct question_list *list);
void decide_register(struct engine *e, struct command *cmd);
