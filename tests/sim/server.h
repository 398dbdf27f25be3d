/* server.h - a server without threads and sockets: a mailbox, and turns.
 *
 * It runs the real turns (server/turn.h) and treats their failures as server/decider.c does: busy
 * and failed ones are tried again, a full disk is answered, and whatever means that memory cannot
 * be trusted ends in a new start. There are two of them, so that one can take the partition from
 * the other while that one still believes that it is the owner. */
#pragma once
#include "net.h"
#include "server/turn.h"

struct sim_server {
    struct world *world;
    const char *name;
    bool up;
    bool deposed; /* another one took over; this one does not know, and hears nothing new */
    uint64_t wake_no;
    int64_t wake_ms;
    struct turn turn;
    struct list mailbox; /* calls that no turn has taken yet */
    struct list inside;  /* calls that are parked, or in the turn under way */
};

void sim_server_init(struct world *w, struct sim_server *s, const char *name);
/* Takes everything out of memory, without a word to anybody. */
void sim_server_free(struct sim_server *s);

/* Owns, loads and serves; tries again later when that fails. */
void sim_server_start(struct sim_server *s);
/* Dies. Connections break; it is started again after a while, unless it was deposed. */
void sim_server_crash(struct sim_server *s);
/* The other server takes the partition. */
void sim_server_take_over(struct world *w);

void sim_server_take(struct sim_server *s, struct call *take_call);
