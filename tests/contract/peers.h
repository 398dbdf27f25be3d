/* peers.h - servers that share the store under test, by hand. */
#pragma once
#include "world.h"

enum { LEASE_MS = 5000 };

/* A server: a handle of its own, its row, and what it believes to own. */
struct peer {
    struct store *store;
    struct member *member;
    struct node_rec me;
    struct ownership own;
    uint64_t turn;
    struct cluster_view seen; /* with its newest renewal */
    int64_t lapsed_ms;        /* the last beat of another one of its name */
};

/* Two servers that have just joined, and nobody owns anything. */
struct pair {
    struct peer a;
    struct peer b;
};

/* False: only one server can have the candidate open, and there is nothing to promise. */
bool is_shared(const struct world *w);

struct pair pair_new(struct world *w);
void pair_free(struct pair *pair);

/* start: which of its processes it is. */
struct peer peer_new(struct world *w, const char *name, const char *start);
void peer_free(struct peer *p);

/* ---- members; all but the first must succeed */

enum rc peer_try_renew(struct world *w, struct peer *p, struct cluster_view *ret_view);
struct cluster_view peer_renew(struct world *w, struct peer *p);
/* Returns all that it owns by then. */
uint64_t peer_take(struct world *w, struct peer *p, uint64_t wanted);
void peer_give_back(struct world *w, struct peer *p, uint64_t partitions);
/* Time goes by for the store. */
void peers_pass(struct world *w, int64_t by_ms);

/* ---- partitions and what is in them */

uint64_t peer_all(const struct peer *p); /* that there are */
/* An id in one of the buckets of a partition. */
uint64_t peer_id_in(struct world *w, const struct peer *p, uint32_t partition);
struct job_change peer_job_in(struct world *w, const struct peer *p, uint32_t partition);
/* As its next turn. */
enum rc peer_commit_job(struct world *w, struct peer *p, const struct job_change *job);
