/* waits.h - how many wait for what: CMD_WAITS.
 *
 * As explain.h for all at once, and briefer: of each execution that has not started the one thing
 * is counted that keeps it from starting first (a pause before a limit, a limit before the
 * workers). Bounded, since it runs in the turn: of very many executions some are looked at, in the
 * order in which they are hashed, and stand for the rest of their queue and state; the answer says
 * so. */
#pragma once
#include "engine/core/model.h"

enum { WAITS_LOOK_MAX = 20000 }; /* some milliseconds */

void decide_waits(struct engine *e, struct command *cmd);
