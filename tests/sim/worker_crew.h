/* worker_crew.h - what the pollers of a simulated worker know together, after worker/link/session.c: whose is
 * what, where to offer what is free, and whether any server still knows the worker. */
#pragma once
#include "worker.h"

/* The server answers, and knows us. */
bool poller_is_connected(const struct sim_poller *p);
/* The newest poll, while it is under way; else NULL. */
struct sim_link *poller_newest(struct sim_poller *p);
/* The newest poll has failed: whatever the server has heard, or not, is in doubt. */
void poller_doubt(struct sim_poller *p);

/* What a poll to this server is about: all that it owns, what nobody else is known to own, and what
 * polls under way have named. */
struct partition_set crew_scope(const struct world *w, const struct sim_poller *p);
/* What no server that answers says it owns. */
struct partition_set crew_orphans(const struct sim_poller *p);

/* Takes note of the epochs that a reply names; about which partitions it may be believed. */
struct partition_set crew_believed(const struct world *w, struct sim_worker *k,
                                   const struct poll_reply *reply);
/* The results of these may be told to this server: one that may not decide has no use for any. */
struct partition_set poller_result_scope(const struct sim_poller *p,
                                         const struct partition_set *scope);

uint32_t crew_free_slots(const struct sim_worker *k);
/* What a poll to this server may offer now. */
uint32_t crew_offer(const struct world *w, struct sim_poller *p);
/* The poll that waits there should be replaced: it offers what is needed elsewhere. */
bool crew_offer_moved(const struct world *w, struct sim_poller *p);

/* A server has said that it does not know us, or that a newer poll was there; or has not answered. */
void crew_unknown(struct world *w, struct sim_poller *p);
void crew_stale(struct world *w, struct sim_poller *p);
void crew_failed(struct world *w, struct sim_poller *p);

/* Another server that answers, for a poll that cannot go straight to p's; NULL: none. */
struct sim_server *crew_go_between(const struct sim_poller *p);
