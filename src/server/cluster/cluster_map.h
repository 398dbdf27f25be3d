/* cluster_map.h - the newest view of the cluster, for all threads: the servers that are there, and
 * the owner of each partition.
 *
 * The membership publishes a view with every renewal; everybody else asks, and gets copies. */
#pragma once
#include "store/store.h"

#include <pthread.h>

/* Another server that is there. */
struct peer {
    struct str name;
    struct str start;
    struct str address;
};

/* Our own observation of one start of a server. Only this counts for how long it has been silent:
 * the store's clock may be set. */
struct sighting {
    struct str start;
    int64_t seen_ms;    /* its newest beat, as the row says: a mark to compare, not a time */
    int64_t changed_ms; /* boot clock: when we first saw that very beat */
};

struct cluster_map {
    struct str me;        /* our start; borrowed */
    struct str replaces;  /* a start that is dead for sure; empty: not known; borrowed */
    int64_t lease_ms;     /* a server that was silent for longer is not there */
    pthread_mutex_t lock; /* of what follows; held for copies only */
    struct sighting *sightings;
    size_t sighting_count;
    struct arena sightings_arena;
    int64_t viewed_ms;   /* boot clock: the newest view, */
    int64_t watching_ms; /* and the first one since which there was no gap; 0: there was no view */
    struct cluster_view view;
    struct arena arena; /* of the view */
    size_t next_owner;
};

void cluster_map_init(struct cluster_map *r, struct str me, int64_t lease_ms);
void cluster_map_free(struct cluster_map *r);

/* ---- about a view: without the lock */

enum { ROSTER_NOBODY = -1 };

/* The place of the node of that start in a view; ROSTER_NOBODY. */
int cluster_map_find(const struct cluster_view *v, struct str start);

/* ---- what we see ourselves: by the thread that publishes, or under the lock */

/* Takes note of a view that has come at boot_ms (not: was asked for, since a beat may be younger
 * than the question). More than half a lease between two views is a gap: others may have been cut
 * off, too. */
void cluster_map_observe(struct cluster_map *r, const struct cluster_view *v, int64_t boot_ms);
/* When the newest beat of that start was first seen here, by our boot clock: it was sent before
 * that. A gap of our own does not move it. Also of a start whose row is gone while it still owns
 * something. 0: never seen. */
int64_t cluster_map_changed_ms(const struct cluster_map *r, struct str start);
/* For how long that one has not renewed, as far as we have been watching without a gap: after one
 * of our own, others must be given the time to come back, too. */
int64_t cluster_map_silent_ms(const struct cluster_map *r, const struct node_rec *node);
/* Longer than the lease, or dead for sure. We are never silent to ourselves. */
bool cluster_map_is_silent(const struct cluster_map *r, const struct node_rec *node);
/* Its newest beat is older than the lease by the store's clock, which also one who has only just
 * come can read. That clock may be wrong, so nobody is deprived for it; but what is free need not
 * wait for that one. */
bool cluster_map_seems_away(const struct cluster_map *r, const struct cluster_view *v,
                            const struct node_rec *node);
/* Since when we have been watching without a gap, by our boot clock; 0: there was no view yet. */
int64_t cluster_map_watching_ms(const struct cluster_map *r);
/* Another start has renewed while we were watching. */
bool cluster_map_has_company(const struct cluster_map *r);

/* ---- from any thread */

void cluster_map_publish(struct cluster_map *r, const struct cluster_view *view,
                         struct arena *take_arena);
/* Finds the owner of a partition, as far as is known: false when no server that is there owns it.
 * May be ourselves. */
bool cluster_map_owner(struct cluster_map *r, uint32_t partition, struct arena *arena,
                       struct peer *ret_owner);
/* Some other server that owns something, going round. False: there is none. */
bool cluster_map_any_owner(struct cluster_map *r, struct arena *arena, struct peer *ret_owner);
/* More servers are there than there are partitions: some must own nothing. */
bool cluster_map_is_crowded(struct cluster_map *r);
/* Nothing is ours any more, or nobody is there to take it. */
bool cluster_map_has_handed_over(struct cluster_map *r);
/* All others that are not silent. */
size_t cluster_map_peers(struct cluster_map *r, struct arena *arena, struct peer **ret_peers);
/* Of the others, as cluster_map_silent_ms has it, the longest; 0: there is no other. */
int64_t cluster_map_longest_silence_ms(struct cluster_map *r);
bool cluster_map_sees_silent(struct cluster_map *r, struct str start);
void cluster_map_look(struct cluster_map *r, struct arena *arena, struct cluster_view *ret_view);
struct node_rec cluster_map_copy(const struct node_rec *node, struct arena *arena);
