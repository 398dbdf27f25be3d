/* store.h - a real store, behind a door that fails on purpose.
 *
 * A turn speaks to the world outside only by calls of its store and by answers. So a server that
 * dies "between any two phases of a turn" dies before or after one of these calls: that is where
 * this store, told by the turn's fault, lets it die. No seam in server/turn/turn.c is needed, and what
 * runs here is what runs in a server.
 *
 * The store behind the door is the one in memory, or SQLite for who has more time. In a cluster each
 * server has a door of its own, to the same memory. What is kept is told to the model, in the same
 * moment. */
#pragma once
#include "faults.h"
#include "late.h"
#include "model.h"
#include "store/store.h"

struct sim_server;

struct sim_store {
    struct store store;  /* what turns are given */
    struct store *inner; /* owned */
    char *dir;           /* owned; where SQLite has its files; NULL: in memory */
    struct world *world;
    struct sim_server *server; /* in a cluster: whose door it is; else NULL */
    /* the turn under way */
    enum fault fault;
    const struct turn_view *view;
    bool crashed;             /* its server has died in one of these calls */
    bool kept;                /* something of it was */
    unsigned settle_failures; /* so often settle cannot say */
    struct late *late;        /* the newest commit that may arrive late; NULL: none */
};

/* The doors of the world, and its reader. */
void sim_store_open(struct world *w, bool sqlite);
void sim_store_close(struct world *w);

/* From here until the next one, this is the turn, and this goes wrong in it. */
void sim_store_begin_turn(struct sim_store *s, const struct turn_view *view, enum fault fault);
