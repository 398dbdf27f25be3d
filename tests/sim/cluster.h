/* cluster.h - a simulated server as a member of a cluster: what server/cluster/membership.c does, without its
 * thread.
 *
 * It renews its row, learns who else is there (the real server/cluster/cluster_map.c), takes what is meant for it and
 * gives back what is meant for others (server/cluster/balance.c), and loads a new engine whenever what it owns has
 * changed. How long leases of a silent owner may live is the real server/cluster/unsure.c. By its own boot
 * clock it knows until when it may decide, and until when it may keep leases alive. */
#pragma once
#include "server/cluster/cluster_map.h"

struct world;
struct sim_server;

struct sim_member {
    struct member *member; /* owned; NULL: not there */
    struct node_rec me;
    struct cluster_map cluster_map;
    struct ownership own;
    uint64_t giving;    /* not decided about any more, and given back with the next beat */
    int64_t renewed_ms; /* boot clock: when the newest renewal that succeeded was sent */
    int64_t sent_ms;    /* the same of the one that the database has not answered; 0: none */
    int64_t back_ms; /* boot clock: the newest silence of its own ended then; 0: there was none */
    uint64_t beat_no;
    bool loaded;                /* the engine holds what is owned */
    uint64_t settings;          /* version of those that were read, … */
    uint64_t settings_newest;   /* … and of those that there are */
    int owners[PARTITIONS_MAX]; /* the server that has each, as far as is known; -1: nobody */
};

/* Joins and takes what is free. False: not now. */
bool cluster_join(struct sim_server *s, struct err *err);
/* Without a word to anybody. */
void cluster_vanish(struct sim_server *s);
/* Looks again what is owned, soon: the store has said that something is not. */
void cluster_doubt(struct sim_server *s);
/* Reads what somebody decided for all servers, if there is something new. */
void cluster_read_settings(struct sim_server *s);
/* By its own clock nobody can have taken from it what it owns. */
bool cluster_may_decide(const struct sim_server *s);
/* It may keep leases alive, although it may not decide. */
bool cluster_has_grace(const struct sim_server *s);
/* Who decides about the id, as far as this server knows. NULL: nobody, or nobody who is there. */
struct sim_server *cluster_owner(const struct sim_server *s, uint64_t id);
/* Some other server that owns something. NULL: none. */
struct sim_server *cluster_any_owner(const struct sim_server *s);
