/* letters.h - dead letters: executions that failed for good. Memory holds none of them; a command
 * about one asks the store, and the turn lists those that it took. */
#pragma once
#include "job/command/command.h"

struct engine;
struct exec;
struct queue;
struct touched;

/* A dead letter that leaves in this turn. */
struct gone_letter {
    struct letter_place place;
    struct queue *queue;
    enum exec_state state;
};

/* The execution has failed for good. */
bool exec_is_dead(const struct exec *x);
/* The letter of an execution that died in this turn. */
struct letter_rec letter_of(struct engine *e, const struct touched *t);
/* Removes the letter with this turn. False when it is gone already. */
bool letter_take(struct engine *e, const struct letter_rec *letter);
bool letter_is_gone(const struct engine *e, struct letter_place place);
/* The letter of the execution that the command asked about; NULL: it is none (any more). */
const struct letter_rec *letter_asked(const struct engine *e, const struct command *cmd);
void decide_discard(struct engine *e, struct command *cmd);
