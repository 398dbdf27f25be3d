/* retired.h - engines that decide nothing any more, until the last reader has left them.
 *
 * Answers borrow names from the engine that gave them, and travel to the net threads as mail. Mail
 * arrives in order: when a parcel that was sent after an engine's last answer has come to every net
 * thread, all its answers are written, and it can go. That takes as long as the engine is large, so
 * a thread of its own does it. Texts that the output log is told are copied before. */
#pragma once
#include "engine/core/engine.h"
#include "server/call/context.h"

struct retired;

/* Adds to *list; frees those that are through. On the turn thread. */
void retired_add(struct retired **list, struct server *server, struct engine *take_engine);
/* Frees those that are through. */
void retired_sweep(struct retired **list);
/* When the net threads have ended. NULL is fine. */
void retired_free(struct retired *list);
