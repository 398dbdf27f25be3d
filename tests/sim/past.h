/* past.h - a database that goes back: a standby that lagged takes over.
 *
 * On some days of a cluster a second memory follows the first (store_mem_stand_by), falls behind at some moment, and
 * takes over a while later. What was kept in between is lost, whoever was told. The model goes back with it: it
 * remembers how it was when the standby heard its last, byte by byte, and becomes that again. What stays is what
 * people have asked for, and what time it is.
 *
 * From then on it is promised: memory is what the store is, as ever, on every server that may decide, and servers
 * find out by themselves, within a beat; epochs grow, and no worker is ever given a token that it, or another, was
 * given before for the same execution; somebody is told how many turns are gone; and whatever was not lost comes to
 * its end. A run of a lease that is lost may go on until its worker hears that it is to stop, so it may overlap with
 * the one that takes its place. */
#pragma once
#include "base/map.h"
#include "model.h"
#include "store/store_mem.h"

struct call;
struct sim_server;

struct past_block {
    char *at;
    char *copy; /* owned */
    size_t len;
};

struct sim_past {
    bool remembered;
    bool gone_back;
    int64_t back_ms; /* boot clock: it went back then */
    struct model model;
    struct map maps[4];        /* owned: copies of the model's */
    struct past_block *blocks; /* owned */
    size_t block_count;
    struct map
        tokens;   /* execution -> the newest token that a worker was given, in the day's arena */
    bool noticed; /* a server has found that turns are missing, … */
    bool told;    /* … and an alert says so */
};

/* The day has such a standby. */
void past_begin(struct world *w);
void past_free(struct world *w);
/* A worker was given a lease. */
void past_granted(struct world *w, const struct command *poll, uint64_t exec_id, uint64_t token);
/* A server has found that turns are missing. */
void past_noticed(struct sim_server *s, uint64_t turns);
/* The store keeps this delta, now. */
void past_keep(struct world *w, const struct delta *delta);
/* It was started under a lease that is lost. */
bool past_is_ghost(const struct world *w, uint64_t exec_id, uint64_t token);
/* The answer was given by a turn that is lost, or by a server that believes in such. What it says was kept, once. */
bool past_is_answer_lost(const struct world *w, const struct call *call);
/* A turn that began then was kept, or nothing was to be kept of it. */
void past_check_turn(const struct sim_server *s, int64_t began_ms);
/* After the day. */
void past_check(struct world *w);
