/* server.h - a server without threads and sockets: a mailbox, and turns.
 *
 * It runs the real turns (server/turn/turn.h) and treats their failures as server/turn/decider.c does: busy
 * and failed ones are tried again, a full disk is answered, and whatever means that memory cannot
 * be trusted ends in a new start, or, in a cluster (cluster.h), in another look at what is owned.
 *
 * Alone, there are two of them, so that one can take the partition from the other while that one
 * still believes that it is the owner. In a cluster there are three, each with its own door to the
 * store; they may be frozen, as a stopped process or a machine that sleeps is, between turns and in
 * the middle of one, and cut off from the store, or from everybody else (spells.h). */
#pragma once
#include "agenda.h"
#include "clocks.h"
#include "cluster.h"
#include "net.h"
#include "server/turn/turn.h"

struct sim_server {
    struct world *world;
    const char *name;
    struct sim_store *door;
    bool up;
    bool deposed; /* another one took over; this one does not know, and hears nothing new */
    uint64_t wake_no;
    int64_t wake_ms;
    struct turn turn;
    struct sim_timing time; /* on days of clocks */
    uint64_t load;          /* model.loads, when that was loaded */
    struct list mailbox;    /* calls that no turn has taken yet */
    struct list inside;     /* calls that are parked, or in the turn under way */
    /* in a cluster */
    struct sim_member member;
    char start[32];        /* its name in this life, … */
    char former_start[32]; /* … and in the one before */
    bool knows;            /* the engine holds what was owned when it was loaded; else nothing */
    struct engine *former; /* owned: knows, while the engine of the turn does not; NULL: none */
    struct ownership former_owned;
    bool in_turn;
    bool kept_in_turn;     /* polls were answered while it waited for the database */
    int64_t looked_ms;     /* boot clock: at its mailbox */
    bool astray;           /* the store has lost turns of it, and it has not noticed */
    uint64_t lost_turns;   /* of which an alert is due */
    int64_t idle_since_ms; /* boot clock: since then so many turns came to nothing */
    unsigned idle_turns;
    uint64_t calendar_changes; /* that its engine knew of in the newest turn that was kept */
    uint64_t wait_no;          /* of its wait for a database that hangs */
    int64_t frozen_until_ms;   /* boot clock, as are these: does nothing */
};

void sim_server_init(struct world *w, struct sim_server *s, const char *name,
                     struct sim_store *door);
/* Takes everything out of memory, without a word to anybody. */
void sim_server_free(struct sim_server *s);

/* Owns, loads and serves; tries again later when that fails. */
void sim_server_start(struct sim_server *s);
/* Dies. Connections break; it is started again after a while, unless it was deposed. */
void sim_server_crash(struct sim_server *s);
/* The other server takes the partition. */
void sim_server_take_over(struct world *w);

void sim_server_take(struct sim_server *s, struct call *take_call);
/* Something has changed that its engine wants to look at. */
void sim_server_stir(struct sim_server *s);

/* ---- in a cluster */

/* A new engine with what is owned takes the place of the old one. False: it could not be loaded. */
bool sim_server_load(struct sim_server *s, const struct ownership *own);
