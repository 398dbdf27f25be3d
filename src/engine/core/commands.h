/* commands.h - questions and answers of commands, for the modules that decide them. */
#pragma once
#include "engine/core/engine.h"

/* The command has its answer. */
void command_done(struct engine *e, struct command *cmd);
/* The command is refused: its answer is rc and the text. Returns rc. */
enum rc command_fail(struct engine *e, struct command *cmd, enum rc rc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A new question of the command, on the list for the store. */
struct question *command_ask(struct engine *e, struct command *cmd, struct question_list *list);
/* A question beside those that the command counts. */
struct question *ask_apart(struct engine *e, struct command *cmd, struct question_list *list);
