/* intake.h - what waits for a turn: from the mailbox to a turn's commands, and home with an answer.
 *
 * Requests come from any thread and pile up; the turn's thread takes as many as one turn can carry,
 * in the order in which they came. Those about which another server decides are refused on the way.
 * A request has no other way out than an answer: a caller that cannot decide about commands gives
 * up on them, or puts them back.
 *
 * A nudge is mail without a request: there may be something in the inbox, or news of the cluster.
 * Many are as good as one, so there is one, sent again when it was seen. */
#pragma once
#include "loop/mailbox.h"
#include "server/cluster/errand.h"
#include "server/turn/turn.h"

enum {
    TURN_COMMANDS_MAX = 4096, /* so that one turn stays within some tens of milliseconds */
    TURN_SUBMISSIONS_MAX = 20000,
};

struct intake {
    struct mailbox *box;
    struct list waiting; /* requests (mail) that no turn has taken yet */
    struct mail nudge;
    atomic_bool nudged;
};

void intake_init(struct intake *in, size_t mailbox_max);
void intake_free(struct intake *in);

/* ---- from any thread */

/* As mailbox_send. */
enum rc intake_send(struct intake *in, struct request *r);
void intake_send_errand(struct intake *in, struct errand *take_errand);
void intake_nudge(struct intake *in);

/* ---- by the turn's thread */

/* All that has come since waits for a turn. A nudge is told to the turn's engine. */
void intake_take(struct intake *in, struct turn *turn);
/* Takes as many commands as the next turn can carry: ret_commands has room for TURN_COMMANDS_MAX.
 * any: also what another server has to decide. */
size_t intake_gather(struct intake *in, struct turn *turn, bool any, struct command **ret_commands);
/* Takes the polls out of all that has come, in their order and at most max; the rest stays as it
 * is. Also while a turn is under way. */
size_t intake_take_polls(struct intake *in, struct command **ret_polls, size_t max);
/* Back to the front, in their order: nothing has happened to them. */
void intake_put_back(struct intake *in, struct command *const *commands, size_t count);

/* ---- answers */

/* Sends home what is answered, and empties the list. */
void answers_send(struct list *done);
/* Answers what could not be decided. */
void answers_give_up(struct command *const *commands, size_t count, const struct err *err);
