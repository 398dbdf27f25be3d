/* bisect.h - a turn that the store calls a contradiction, and how the innocent get through.
 *
 * A part of turn.c. One command with data that cannot be kept must not take the others of its turn
 * down with it, nor the server. And where memory and store disagree about an execution (a row was
 * deleted or damaged under us), that execution is what is wrong, not whoever's command met it. */
#pragma once
#include "server/turn/turn.h"

/* Bad data, as opposed to a store in trouble: trying the same again cannot help. */
bool is_contradiction(enum rc rc);

/* For a turn that ended with a contradiction. RC_OK: every command is answered or parked, the one
 * or other with a problem. Otherwise nothing happened: RC_CONFLICT when the contradiction is not in
 * the commands, else the trouble that the store is in. When trouble comes after some were kept, the
 * rest is answered with it. */
enum rc bisect(struct turn *t, struct command *const *commands, size_t count, struct moment now,
               struct turn_news *ret_news, struct err *err);

/* turn.c: a turn as it comes, kept whole or undone whole. */
enum rc turn_run_once(struct turn *t, struct command *const *commands, size_t count,
                      struct moment now, struct turn_news *ret_news, struct err *err);
/* turn.c: tells and counts an execution that is neither acted upon nor deleted from now on. */
void turn_quarantine(struct turn *t, uint64_t exec_id, const char *why);
