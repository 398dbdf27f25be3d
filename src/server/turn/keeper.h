/* keeper.h - keeps leases alive while this server may not decide.
 *
 * A server in a cluster decides while it is sure to be the owner (membership_may_decide), has
 * loaded what it owns and is not in doubt about it. Else, for the grace that its node's row
 * promises, it answers polls provisionally (engine_answer_kept): it names what memory knows to be
 * the worker's and nothing else. Then it says that it cannot. While an engine is loaded, or could
 * not be, the one before it answers, for partitions that are still ours under the same epoch; the
 * new one inherits what it knew.
 *
 * Belongs to the turn thread. A server that is alone with its store has none of this. */
#pragma once
#include "server/cluster/membership.h"
#include "server/turn/intake.h"

struct keeper {
    struct membership *membership; /* borrowed; NULL: there is no other server */
    struct engine *former;         /* owned: its successor is not loaded yet; NULL: there is one */
    struct ownership owned;        /* of former */
    int64_t quiet_ms;  /* polls wait so long for a busy turn; then they are answered here */
    int64_t looked_us; /* when the turn thread last looked at what has come */
};

/* Answers a poll that the engine does not know, by that engine, which owned this. */
void keeper_answer(const struct keeper *k, struct engine *engine, const struct ownership *owned,
                   struct command *poll);
/* A provisional answer that an engine gave keeps only what is still ours, while the grace lasts.
 * Harmless for other commands. */
void keeper_restrict(const struct keeper *k, const struct ownership *owned, struct command *cmd);
/* Answers all polls that wait in the intake: by the former engine, or that of the turn. */
void keeper_answer_waiting(const struct keeper *k, struct intake *in, struct turn *turn);
/* Called while the turn thread waits for the store. */
void keeper_wait(const struct keeper *k, struct intake *in, struct turn *turn);

/* The engine is replaced. True: it is the keeper's now, until there is another; false: still the
 * caller's. */
bool keeper_adopt(struct keeper *k, struct engine *engine, const struct ownership *owned);
/* The successor is loaded: it inherits, and what is returned (NULL: nothing) is the caller's. */
struct engine *keeper_pass_on(struct keeper *k, struct engine *successor);
